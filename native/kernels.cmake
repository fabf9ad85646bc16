# The CPU kernels, once as objects: inside ggml (the graph runs them) and as libeliza_kv (verify loads it).
set(KERNELS_DIR ${CMAKE_CURRENT_LIST_DIR}/../kernels/cpu)
file(GLOB KERNEL_SOURCES CONFIGURE_DEPENDS ${KERNELS_DIR}/src/*.c)

add_library(eliza_kv_objects OBJECT ${KERNEL_SOURCES})
target_include_directories(eliza_kv_objects PUBLIC ${KERNELS_DIR}/include ${KERNELS_DIR}/../tables)

# The flags, from the one file that says them: FLAGS_every, FLAGS_avx2, …
file(STRINGS ${KERNELS_DIR}/flags.txt KERNEL_FLAG_LINES REGEX "^[a-z0-9]+: ")
foreach (line IN LISTS KERNEL_FLAG_LINES)
    string(REGEX MATCH "^([a-z0-9]+): (.*)$" matched "${line}")
    set(where ${CMAKE_MATCH_1})
    set(flags "${CMAKE_MATCH_2}")
    separate_arguments(FLAGS_${where} UNIX_COMMAND "${flags}")
    if (where STREQUAL "every")
        target_compile_options(eliza_kv_objects PRIVATE ${FLAGS_every})
        string(STRIP "${flags} ${CMAKE_C_FLAGS}" KERNEL_FLAGS)
    elseif (CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
        foreach (source IN LISTS KERNEL_SOURCES)
            if (source MATCHES "${where}")
                set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "${FLAGS_${where}}")
            endif ()
        endforeach ()
    endif ()
endforeach ()
if (ELIZA_SANITIZE)
    string(APPEND KERNEL_FLAGS " sanitized")
endif ()

# The library vouches for what it was made from: sha256 over "path sha256" lines of all files, sorted by path.
file(GLOB_RECURSE KERNEL_FILES CONFIGURE_DEPENDS ${KERNELS_DIR}/* ${KERNELS_DIR}/../tables/*)
set(KERNEL_PATHS)
foreach (path IN LISTS KERNEL_FILES)
    file(RELATIVE_PATH name ${CMAKE_CURRENT_LIST_DIR}/.. ${path})
    list(APPEND KERNEL_PATHS ${name})
endforeach ()
list(SORT KERNEL_PATHS)
set(KERNEL_DIGESTS "")
foreach (name IN LISTS KERNEL_PATHS)
    file(SHA256 ${CMAKE_CURRENT_LIST_DIR}/../${name} digest)
    string(APPEND KERNEL_DIGESTS "${name} ${digest}\n")
endforeach ()
string(SHA256 KERNEL_SOURCES_HASH "${KERNEL_DIGESTS}")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${KERNEL_FILES})
set_source_files_properties(${KERNELS_DIR}/src/build.c PROPERTIES COMPILE_DEFINITIONS
    "ELIZA_KV_SOURCES=\"${KERNEL_SOURCES_HASH}\";ELIZA_KV_FLAGS=\"${KERNEL_FLAGS}\"")

add_library(eliza_kv SHARED $<TARGET_OBJECTS:eliza_kv_objects>)
target_link_libraries(eliza_kv PRIVATE m)

target_sources(ggml-base PRIVATE $<TARGET_OBJECTS:eliza_kv_objects>
    ${CMAKE_CURRENT_LIST_DIR}/src/ggml/device-support.c)
target_sources(ggml-cpu PRIVATE ${CMAKE_CURRENT_LIST_DIR}/src/ggml/cpu/eliza-attention.c
    ${CMAKE_CURRENT_LIST_DIR}/src/ggml/cpu/eliza-set-rows.c)
foreach (target IN ITEMS ggml-base ggml-cpu llama)
    target_include_directories(${target} PRIVATE ${KERNELS_DIR}/include ${CMAKE_CURRENT_LIST_DIR}/src/ggml/cpu)
endforeach ()
