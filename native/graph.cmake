# What llama.cpp's graph and cache call beyond their own sources.
file(GLOB GRAPH_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/src/runtimes/llama/graph/*.cpp)
target_sources(llama PRIVATE ${GRAPH_SOURCES})
target_include_directories(llama PRIVATE ${CMAKE_CURRENT_LIST_DIR}/src/runtimes/llama/graph)
set_source_files_properties(${GRAPH_SOURCES} TARGET_DIRECTORY llama PROPERTIES SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
