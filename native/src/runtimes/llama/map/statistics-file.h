#pragma once

#include <string>
#include <vector>

#include "runtimes/llama/map/layer-layout.h"

namespace eliza {

// Of one cache layer, kv head after kv head. Second moments are [d][d], not centred.
struct CacheStatistics {
    std::vector<double> key_weight, value_weight; // [kv heads]
    std::vector<double> key_sum, value_sum;       // [kv heads][d]
    std::vector<float> key_second, query_second, value_second, output_second;
};

struct StatisticsFile {
    std::vector<LayerLayout> layers;
    std::vector<CacheStatistics> caches; // by layer, empty for layers that share another's cache
    int32_t tokens = 0;
    int32_t exact_tokens = 0; // of the exact window whose pairs were left out
    int32_t exact_sinks = 0;
    int32_t window = 0;
    float softcap = 0.0f;
    std::string model_name, model_sha256, text_sha256;
};

constexpr uint32_t STATISTICS_VERSION = 1;

// As a GGUF file (docs/learned-maps.md has its keys and tensors), written beside its place and renamed into it.
// Throws PERMISSION_DENIED.
void write_statistics(const std::string &path, const StatisticsFile &file);

} // namespace eliza
