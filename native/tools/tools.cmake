# Small programs that the tests and benchmarks run; each exists for the edited and the pristine tree alike.
add_executable(eliza-logits ${CMAKE_CURRENT_LIST_DIR}/logits.cpp)
target_link_libraries(eliza-logits PRIVATE llama ggml)

if (NOT ELIZA_PRISTINE)
    add_executable(eliza-stream-loop ${CMAKE_CURRENT_LIST_DIR}/stream-loop.c)
    target_link_libraries(eliza-stream-loop PRIVATE elizainference)
    set_target_properties(eliza-stream-loop PROPERTIES BUILD_RPATH "$ORIGIN")
endif ()
