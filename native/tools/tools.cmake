# Small programs that the tests and benchmarks run; each exists for the edited and the pristine tree alike.
add_executable(eliza-logits ${CMAKE_CURRENT_LIST_DIR}/logits.cpp)
target_link_libraries(eliza-logits PRIVATE llama ggml)

# What a cache type costs a model: the same source measures llama.cpp's own attention in the pristine tree.
add_executable(eliza-quality ${CMAKE_CURRENT_LIST_DIR}/quality.cpp ${CMAKE_CURRENT_LIST_DIR}/distribution.cpp
    ${CMAKE_CURRENT_LIST_DIR}/cache-context.cpp)
target_include_directories(eliza-quality PRIVATE ${LLAMA_CPP_DIR}/src ${LLAMA_CPP_DIR}/vendor)
target_link_libraries(eliza-quality PRIVATE llama ggml)
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/distribution.cpp PROPERTIES COMPILE_OPTIONS "-O3;-march=native")

# Prompt and decode at long contexts, for bench/long-context.
add_executable(eliza-long-context ${CMAKE_CURRENT_LIST_DIR}/long-context.cpp
    ${CMAKE_CURRENT_LIST_DIR}/cache-context.cpp)
target_include_directories(eliza-long-context PRIVATE ${LLAMA_CPP_DIR}/src)
target_link_libraries(eliza-long-context PRIVATE llama ggml)

# The attention operation, for bench/attention-cpu to load beside the other tree's.
find_package(Threads REQUIRED)
add_library(eliza-attention-op MODULE ${CMAKE_CURRENT_LIST_DIR}/attention-op.cpp)
target_link_libraries(eliza-attention-op PRIVATE ggml ggml-base ggml-cpu Threads::Threads)
if (CMAKE_SYSTEM_NAME STREQUAL "Linux") # or one tree would run the other's code
    target_link_options(eliza-attention-op PRIVATE -Wl,-Bsymbolic -Wl,--exclude-libs,ALL)
endif ()
set_target_properties(eliza-attention-op PROPERTIES PREFIX "" SUFFIX "")
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/attention-op.cpp PROPERTIES COMPILE_OPTIONS "-O3;-march=native")

if (NOT ELIZA_PRISTINE)
    # Learned maps, which llama.cpp without edits does not know.
    foreach (tool IN ITEMS eliza-logits eliza-quality eliza-long-context)
        target_sources(${tool} PRIVATE $<TARGET_OBJECTS:elizainference_objects> $<TARGET_OBJECTS:elizainference_llama_runtimes>)
        target_include_directories(${tool} PRIVATE ${CMAKE_CURRENT_LIST_DIR}/../src ${CMAKE_CURRENT_LIST_DIR}/../src/runtimes/llama/graph)
        target_compile_definitions(${tool} PRIVATE ELIZA_MAPS)
        target_link_libraries(${tool} PRIVATE ggml-base ggml-cpu Threads::Threads)
    endforeach ()
    add_executable(eliza-stream-loop ${CMAKE_CURRENT_LIST_DIR}/stream-loop.c)
    target_link_libraries(eliza-stream-loop PRIVATE elizainference)
    # What the C ABI cannot show from outside: the selector, UTF-8 assembly, queues.
    file(GLOB NATIVE_TESTS CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/../tests/*.cpp)
    add_executable(eliza-native-tests ${NATIVE_TESTS}
        ${CMAKE_CURRENT_LIST_DIR}/../src/runtimes/litert/plugin/accelerators.cpp $<TARGET_OBJECTS:elizainference_objects>
        $<TARGET_OBJECTS:elizainference_llama_runtimes>)
    target_include_directories(eliza-native-tests PRIVATE ${CMAKE_CURRENT_LIST_DIR}/../include
        ${CMAKE_CURRENT_LIST_DIR}/../src ${CMAKE_CURRENT_LIST_DIR}/../src/runtimes/llama/graph ${KERNELS_DIR}/include
        ${LLAMA_CPP_DIR}/src)
    target_link_libraries(eliza-native-tests PRIVATE llama ggml ggml-base ggml-cpu Threads::Threads)
    set_target_properties(eliza-stream-loop PROPERTIES BUILD_RPATH "$ORIGIN")
endif ()
