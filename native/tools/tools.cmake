# Small programs that the tests and benchmarks run; each exists for the edited and the pristine tree alike.
add_executable(eliza-logits ${CMAKE_CURRENT_LIST_DIR}/logits.cpp)
target_link_libraries(eliza-logits PRIVATE llama ggml)

if (NOT ELIZA_PRISTINE)
    add_executable(eliza-stream-loop ${CMAKE_CURRENT_LIST_DIR}/stream-loop.c)
    target_link_libraries(eliza-stream-loop PRIVATE elizainference)
    # What the C ABI cannot show from outside: the selector, UTF-8 assembly, queues.
    file(GLOB NATIVE_TESTS CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/../tests/*.cpp)
    add_executable(eliza-native-tests ${NATIVE_TESTS} $<TARGET_OBJECTS:elizainference_objects>)
    target_include_directories(eliza-native-tests PRIVATE ${CMAKE_CURRENT_LIST_DIR}/../include
        ${CMAKE_CURRENT_LIST_DIR}/../src)
    target_link_libraries(eliza-native-tests PRIVATE llama ggml ggml-base ggml-cpu Threads::Threads)
    set_target_properties(eliza-stream-loop PROPERTIES BUILD_RPATH "$ORIGIN")
endif ()
