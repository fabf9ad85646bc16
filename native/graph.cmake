# What llama.cpp's graph calls beyond its own sources.
target_sources(llama PRIVATE ${CMAKE_CURRENT_LIST_DIR}/src/runtimes/llama/graph/kv-map.cpp)
target_include_directories(llama PRIVATE ${CMAKE_CURRENT_LIST_DIR}/src/runtimes/llama/graph)
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/src/runtimes/llama/graph/kv-map.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
