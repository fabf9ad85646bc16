# The CPU kernels, once as objects: inside ggml (the graph runs them) and as libeliza_kv (verify loads it).
set(KERNELS_DIR ${CMAKE_CURRENT_LIST_DIR}/../kernels/cpu)
file(GLOB KERNEL_SOURCES CONFIGURE_DEPENDS ${KERNELS_DIR}/src/*.c)

add_library(eliza_kv_objects OBJECT ${KERNEL_SOURCES})
target_include_directories(eliza_kv_objects PUBLIC ${KERNELS_DIR}/include ${KERNELS_DIR}/../tables)
set_target_properties(eliza_kv_objects PROPERTIES C_STANDARD 11 C_VISIBILITY_PRESET hidden)
# The arithmetic is specified to the byte: no fused multiply-add unless a kernel writes one.
target_compile_options(eliza_kv_objects PRIVATE -ffp-contract=off -Wall -Wextra -Wpedantic)

# What a source's name allows beyond the architecture's base.
if (CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    set(KERNELS_ARCHITECTURE x64)
else ()
    set(KERNELS_ARCHITECTURE ${CMAKE_SYSTEM_PROCESSOR})
endif ()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${KERNELS_DIR}/instruction-sets.txt)
file(STRINGS ${KERNELS_DIR}/instruction-sets.txt INSTRUCTION_SETS REGEX "^${KERNELS_ARCHITECTURE} ")
foreach (set IN LISTS INSTRUCTION_SETS)
    string(REPLACE " " ";" words ${set})
    list(POP_FRONT words architecture part)
    foreach (source IN LISTS KERNEL_SOURCES)
        if (source MATCHES ${part})
            set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "${words}")
        endif ()
    endforeach ()
endforeach ()

add_library(eliza_kv SHARED $<TARGET_OBJECTS:eliza_kv_objects>)
target_link_libraries(eliza_kv PRIVATE m)

target_sources(ggml-base PRIVATE $<TARGET_OBJECTS:eliza_kv_objects>)
target_sources(ggml-cpu PRIVATE ${CMAKE_CURRENT_LIST_DIR}/src/ggml/cpu/eliza-attention.c)
foreach (target IN ITEMS ggml-base ggml-cpu llama)
    target_include_directories(${target} PRIVATE ${KERNELS_DIR}/include ${CMAKE_CURRENT_LIST_DIR}/src/ggml/cpu)
endforeach ()
