file(GLOB_RECURSE ELIZA_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/src/*.cpp)
# The graph's share is compiled with llama.cpp, ggml's with ggml.
list(FILTER ELIZA_SOURCES EXCLUDE REGEX "/src/(ggml|runtimes/llama/graph)/")
add_library(elizainference_objects OBJECT ${ELIZA_SOURCES} ${LLAMA_CPP_DIR}/vendor/hash/sha256/sha256.c)
target_include_directories(elizainference_objects
    PUBLIC include src src/runtimes/llama/graph
    PRIVATE ${KERNELS_DIR}/include ${KERNELS_DIR}/../tables ${LLAMA_CPP_DIR}/src ${LLAMA_CPP_DIR}/vendor ${LLAMA_CPP_DIR}/vendor/hash)
target_compile_options(elizainference_objects PRIVATE -Wall -Wextra -Wno-missing-field-initializers)
target_compile_definitions(elizainference_objects PRIVATE ELIZA_BUILD
    $<$<BOOL:${ELIZA_ENABLE_LITERT}>:ELIZA_ENABLE_LITERT> $<$<BOOL:${ELIZA_ENABLE_MLX}>:ELIZA_ENABLE_MLX>)
set_target_properties(elizainference_objects PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
find_package(Threads REQUIRED)
target_link_libraries(elizainference_objects PUBLIC llama ggml ggml-base ggml-cpu Threads::Threads)

add_library(elizainference SHARED $<TARGET_OBJECTS:elizainference_objects>)
target_include_directories(elizainference PUBLIC include)
target_link_libraries(elizainference PRIVATE llama ggml ggml-base ggml-cpu Threads::Threads)
if (CMAKE_SYSTEM_NAME STREQUAL "Linux")
    # Nothing but the C ABI leaves the library, so that another llama.cpp may live in the same process.
    target_link_options(elizainference PRIVATE -Wl,--exclude-libs,ALL -Wl,--no-undefined)
endif ()
