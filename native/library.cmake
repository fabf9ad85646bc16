file(GLOB_RECURSE ELIZA_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/src/*.cpp)
# The graph's share is compiled with llama.cpp, ggml's with ggml; what a gate brings in comes below.
list(FILTER ELIZA_SOURCES EXCLUDE REGEX "/src/(ggml|runtimes/llama/graph|runtimes/(fake|litert|mlx|plugin|worker))/|/builtins.cpp")
add_library(elizainference_objects OBJECT ${ELIZA_SOURCES} ${LLAMA_CPP_DIR}/vendor/hash/sha256/sha256.c)
target_include_directories(elizainference_objects
    PUBLIC include src src/runtimes/llama/graph
    PRIVATE ${KERNELS_DIR}/include ${KERNELS_DIR}/../tables ${LLAMA_CPP_DIR}/src ${LLAMA_CPP_DIR}/vendor ${LLAMA_CPP_DIR}/vendor/hash)
target_compile_options(elizainference_objects PRIVATE -Wall -Wextra -Wno-missing-field-initializers)
target_compile_definitions(elizainference_objects PRIVATE ELIZA_BUILD)
set_target_properties(elizainference_objects PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
find_package(Threads REQUIRED)
target_link_libraries(elizainference_objects PUBLIC llama ggml ggml-base ggml-cpu Threads::Threads)

# The runtimes behind gates: target_runtimes(NAME LITERT MLX FAKE) makes an object library of what these need, and of
# the list that registers them.
function(target_runtimes name)
    set(folders)
    set(definitions)
    foreach (gate IN LISTS ARGN)
        string(TOLOWER ${gate} folder)
        list(APPEND folders ${folder})
        list(APPEND definitions ELIZA_ENABLE_${gate})
    endforeach ()
    if (folders)
        list(APPEND folders worker)
    endif ()
    if (LITERT IN_LIST ARGN OR MLX IN_LIST ARGN)
        list(APPEND folders plugin)
    endif ()
    set(sources ${CMAKE_CURRENT_LIST_DIR}/src/select/builtins.cpp)
    foreach (folder IN LISTS folders)
        file(GLOB more CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/src/runtimes/${folder}/*.cpp)
        list(APPEND sources ${more})
    endforeach ()
    add_library(${name} OBJECT ${sources})
    target_include_directories(${name} PRIVATE include src ${LLAMA_CPP_DIR}/vendor)
    target_compile_options(${name} PRIVATE -Wall -Wextra -Wno-missing-field-initializers)
    target_compile_definitions(${name} PRIVATE ELIZA_BUILD ${definitions})
    set_target_properties(${name} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
endfunction()

set(ELIZA_GATES)
foreach (gate IN ITEMS LITERT MLX)
    if (gate IN_LIST ELIZA_RUNTIMES)
        list(APPEND ELIZA_GATES ${gate})
    endif ()
endforeach ()
target_runtimes(elizainference_runtimes ${ELIZA_GATES})
target_runtimes(elizainference_llama_runtimes)

add_library(elizainference SHARED $<TARGET_OBJECTS:elizainference_objects> $<TARGET_OBJECTS:elizainference_runtimes>)
target_include_directories(elizainference PUBLIC include)
target_link_libraries(elizainference PRIVATE llama ggml ggml-base ggml-cpu Threads::Threads)
if (ELIZA_GATES)
    target_link_libraries(elizainference PRIVATE ${CMAKE_DL_LIBS})
endif ()

# The library that tests load: every gate open, and runtimes whose answers a test decides.
target_runtimes(elizainference_test_runtimes LITERT MLX FAKE)
add_library(elizainference_test SHARED EXCLUDE_FROM_ALL $<TARGET_OBJECTS:elizainference_objects>
    $<TARGET_OBJECTS:elizainference_test_runtimes>)
target_link_libraries(elizainference_test PRIVATE llama ggml ggml-base ggml-cpu Threads::Threads ${CMAKE_DL_LIBS})
# A runtime behind the plugin border, in plain C.
add_library(eliza_test_plugin MODULE EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/tests/plugin/bytes-plugin.c)
target_include_directories(eliza_test_plugin PRIVATE include)
set_target_properties(eliza_test_plugin PROPERTIES C_STANDARD 11 C_VISIBILITY_PRESET hidden)
target_compile_options(eliza_test_plugin PRIVATE -Wall -Wextra -Wpedantic)
# With every gate closed: llama.cpp alone.
add_library(elizainference_llama SHARED EXCLUDE_FROM_ALL $<TARGET_OBJECTS:elizainference_objects>
    $<TARGET_OBJECTS:elizainference_llama_runtimes>)
target_link_libraries(elizainference_llama PRIVATE llama ggml ggml-base ggml-cpu Threads::Threads)

# Opens a model's file in a process of its own before this one does.
add_executable(eliza-plugin-probe ${CMAKE_CURRENT_LIST_DIR}/tools/plugin-probe.c)
target_include_directories(eliza-plugin-probe PRIVATE include)
set_target_properties(eliza-plugin-probe PROPERTIES C_STANDARD 11 C_EXTENSIONS ON)
target_compile_options(eliza-plugin-probe PRIVATE -Wall -Wextra)
target_link_libraries(eliza-plugin-probe PRIVATE ${CMAKE_DL_LIBS})

# LiteRT-LM behind the plugin border; LiteRT-LM itself is opened at run time.
file(GLOB LITERT_PLUGIN_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/src/runtimes/litert/plugin/*.cpp)
add_library(elizainference-litert SHARED ${LITERT_PLUGIN_SOURCES} ${CMAKE_CURRENT_LIST_DIR}/src/streaming/utf8.cpp
    ${CMAKE_CURRENT_LIST_DIR}/src/runtimes/llama/processors.cpp
    ${CMAKE_CURRENT_LIST_DIR}/src/runtimes/plugin/user-folders.cpp)
target_include_directories(elizainference-litert PRIVATE include src ${LLAMA_CPP_DIR}/vendor)
target_compile_options(elizainference-litert PRIVATE -Wall -Wextra -Wno-missing-field-initializers)
target_compile_definitions(elizainference-litert PRIVATE ELIZA_BUILD)
set_target_properties(elizainference-litert PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
target_link_libraries(elizainference-litert PRIVATE Threads::Threads ${CMAKE_DL_LIBS})

if (CMAKE_SYSTEM_NAME STREQUAL "Linux")
    # Nothing but the C ABI leaves the library, the C++ library's templates included, so that another llama.cpp may live
    # in the same process.
    foreach (target IN ITEMS elizainference elizainference_test elizainference_llama)
        target_link_options(${target} PRIVATE -Wl,--exclude-libs,ALL -Wl,--no-undefined
            -Wl,--version-script=${CMAKE_CURRENT_LIST_DIR}/exports.map)
        set_target_properties(${target} PROPERTIES LINK_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/exports.map)
    endforeach ()
    target_link_options(elizainference-litert PRIVATE -Wl,--exclude-libs,ALL -Wl,--no-undefined
        -Wl,--version-script=${CMAKE_CURRENT_LIST_DIR}/plugin-exports.map)
    set_target_properties(elizainference-litert PROPERTIES LINK_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/plugin-exports.map)
endif ()
