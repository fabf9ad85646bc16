#include "runtimes/litert/plugin/cache-folder.h"

#include <atomic>
#include <fstream>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "runtimes/litert/plugin/litert-api.h"
#include "runtimes/plugin/user-folders.h"

#define XXH_INLINE_ALL
#include "hash/xxhash/xxhash.h"

namespace eliza::litert {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char *RECORD = "record.json";

class Hash {
  public:
    Hash() { XXH3_128bits_reset(&state_); }
    void add(const void *bytes, size_t size) { XXH3_128bits_update(&state_, bytes, size); }
    void add(const std::string &text) { add(text.data(), text.size()); }
    bool add_file(const fs::path &path) {
        std::ifstream file(path, std::ios::binary);
        std::string piece(1 << 20, '\0');
        while (file) {
            file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
            add(piece.data(), static_cast<size_t>(file.gcount()));
        }
        return file.eof();
    }
    std::string text() const {
        const XXH128_hash_t hash = XXH3_128bits_digest(&state_);
        char text[33];
        std::snprintf(text, sizeof(text), "%016llx%016llx", static_cast<unsigned long long>(hash.high64),
                      static_cast<unsigned long long>(hash.low64));
        return text;
    }

  private:
    XXH3_state_t state_;
};

// The library's own key is the model's name, time and size; ours adds what is in it.
std::string key_of(const ModelFile &model) {
    Hash hash;
    hash.add(std::string(LITERT_LM_VERSION) + " " + fs::path(model.path).filename().string());
    std::error_code code;
    hash.add(std::to_string(fs::last_write_time(model.path, code).time_since_epoch().count()));
    return hash.add_file(model.path) ? hash.text() : "";
}

json files_of(const fs::path &folder) {
    json files = json::object();
    std::error_code code;
    for (fs::directory_iterator entry(folder, code), end; !code && entry != end; entry.increment(code)) {
        if (entry->path().filename() == RECORD) continue;
        Hash hash;
        if (hash.add_file(entry->path())) files[entry->path().filename().string()] = hash.text();
    }
    return files;
}

bool is_whole(const fs::path &folder) {
    std::ifstream record(folder / RECORD);
    if (!record) return false;
    const json written = json::parse(record, nullptr, false);
    return written.is_object() && written == files_of(folder);
}

} // namespace

CacheFolder::CacheFolder(const ModelFile &model) {
    const std::string key = key_of(model);
    if (key.empty()) return;
    place_ = cache_folder() / "litert-lm" / key;
    if (is_whole(place_)) {
        usable_ = true;
        return;
    }
    static std::atomic<int> count{0};
    std::error_code code;
    fs::remove_all(place_, code);
    made_ = place_.string() + "." + std::to_string(getpid()) + "-" + std::to_string(count++);
    usable_ = fs::create_directories(made_, code) && !code;
}

CacheFolder::~CacheFolder() {
    std::error_code code;
    if (!made_.empty()) fs::remove_all(made_, code);
}

std::string CacheFolder::name() const {
    if (!usable_) return ":nocache";
    return (made_.empty() ? place_ : made_).string();
}

void CacheFolder::keep() {
    if (!usable_ || made_.empty()) return;
    std::ofstream(made_ / RECORD) << files_of(made_).dump(2) << "\n";
    std::error_code code;
    fs::rename(made_, place_, code);
    if (!code) made_.clear();
}

} // namespace eliza::litert
