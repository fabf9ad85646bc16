#include "runtimes/llama/memory.h"

#include <algorithm>
#include <fstream>
#include <string>

#if defined(__APPLE__) || defined(__linux__)
#include <unistd.h>
#elif defined(_WIN32)
#include <windows.h>
#endif

#include "llama-hparams.h"

namespace eliza {

namespace {

constexpr uint32_t CELL_PADDING = 256;

uint32_t pad(uint64_t value) { return static_cast<uint32_t>((value + CELL_PADDING - 1) / CELL_PADDING * CELL_PADDING); }

#if defined(__linux__)
uint64_t read_number(const char *path) {
    std::ifstream file(path);
    uint64_t value = 0;
    return file >> value ? value : 0;
}

uint64_t linux_available() {
    std::ifstream meminfo("/proc/meminfo");
    std::string key;
    uint64_t kib = 0;
    uint64_t available = 0;
    while (meminfo >> key >> kib) {
        if (key == "MemAvailable:") available = kib * 1024;
        meminfo.ignore(256, '\n');
    }
    // cgroup v2, as containers see it
    const uint64_t limit = read_number("/sys/fs/cgroup/memory.max");
    const uint64_t used = read_number("/sys/fs/cgroup/memory.current");
    if (limit > 0) available = std::min(available, limit > used ? limit - used : 0);
    return available;
}
#endif

} // namespace

uint32_t cache_cells(const llama_hparams &hparams, uint32_t layer, const ContextShape &shape) {
    const uint32_t full = pad(static_cast<uint64_t>(shape.context_size));
    if (!hparams.is_swa(layer)) return full;
    const uint64_t window = uint64_t(hparams.n_swa) + static_cast<uint64_t>(shape.ubatch_size);
    return pad(std::min<uint64_t>(full, window));
}

uint64_t layer_bytes_per_token(const llama_hparams &hparams, uint32_t layer, ggml_type type_k, ggml_type type_v) {
    if (!hparams.has_kv(layer) || hparams.is_recr(layer)) return 0;
    return ggml_row_size(type_k, hparams.n_embd_k_gqa(layer)) +
           (hparams.is_mla() ? 0 : ggml_row_size(type_v, hparams.n_embd_v_gqa(layer)));
}

uint64_t cache_bytes_per_token(const llama_hparams &hparams, ggml_type type_k, ggml_type type_v) {
    uint64_t bytes = 0;
    for (uint32_t layer = 0; layer < hparams.n_layer(); ++layer) {
        bytes += layer_bytes_per_token(hparams, layer, type_k, type_v);
    }
    return bytes;
}

uint64_t exact_bytes(const llama_hparams &hparams, uint32_t layer, const ContextShape &shape) {
    if (!shape.exact) return 0;
    const uint32_t rows = eliza_exact_rows_for(shape.exact, 1, cache_cells(hparams, layer, shape));
    return rows * layer_bytes_per_token(hparams, layer, GGML_TYPE_F16, GGML_TYPE_F16);
}

uint64_t cache_bytes(const llama_hparams &hparams, const ContextShape &shape) {
    uint64_t bytes = 0;
    for (uint32_t layer = 0; layer < hparams.n_layer(); ++layer) {
        bytes += layer_bytes_per_token(hparams, layer, shape.type_k, shape.type_v) * cache_cells(hparams, layer, shape);
        bytes += exact_bytes(hparams, layer, shape);
    }
    return bytes * static_cast<uint64_t>(shape.max_streams);
}

uint64_t available_memory() {
#if defined(__linux__)
    return linux_available();
#elif defined(__APPLE__)
    return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
#elif defined(_WIN32)
    MEMORYSTATUSEX status{};
    status.dwLength = sizeof(status);
    return GlobalMemoryStatusEx(&status) ? status.ullAvailPhys : 0;
#else
    return 0;
#endif
}

} // namespace eliza
