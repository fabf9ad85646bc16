#include "runtimes/llama/slot-file.h"

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "error/failure.h"
#include "runtimes/llama/file-beside.h"
#include "runtimes/llama/sha256-stream.h"

namespace eliza {

namespace {

using nlohmann::json;

constexpr char MAGIC[8] = {'E', 'L', 'I', 'Z', 'S', 'L', 'O', 'T'};
constexpr uint32_t VERSION = 1;
constexpr uint64_t PREFIX_BYTES = sizeof(MAGIC) + 2 * sizeof(uint32_t);
constexpr uint64_t MAX_HEADER_BYTES = 1 << 16;

struct Prefix {
    char magic[8];
    uint32_t version;
    uint32_t header_bytes;
};
static_assert(sizeof(Prefix) == PREFIX_BYTES);

[[noreturn]] void invalid(const std::string &path, const std::string &why) {
    throw Failure(Code::SLOT_INVALID, path + ": " + why, "prefill the prompt instead, and save it again");
}

json describe(const Slot &slot) {
    const SlotStamp &stamp = slot.stamp;
    return {{"runtime", stamp.runtime},
            {"model", stamp.model},
            {"cache_type_k", stamp.cache_type_k},
            {"cache_type_v", stamp.cache_type_v},
            {"rotation_k", stamp.rotation_k},
            {"rotation_v", stamp.rotation_v},
            {"kv_map", stamp.kv_map},
            {"exact_tokens", stamp.exact_tokens},
            {"exact_sinks", stamp.exact_sinks},
            {"tokens", slot.tokens.size()},
            {"waiting", slot.waiting.size()},
            {"state_bytes", slot.state.size()}};
}

template <typename Value> void check_same(const char *what, const Value &found, const Value &expected) {
    if (found == expected) return;
    const auto shown = [](const Value &value) {
        if constexpr (std::is_same_v<Value, std::string>) {
            return value.empty() ? std::string("none") : value.substr(0, 24);
        } else {
            return std::string(value ? "on" : "off");
        }
    };
    throw Failure(Code::SLOT_MISMATCH,
                  std::string("the slot was saved with another ") + what + ": " + shown(found) + ", here it is " +
                      shown(expected),
                  "open the stream as the one that saved it was opened, or prefill the prompt");
}

} // namespace

void write_slot(const std::string &path, const Slot &slot) {
    const std::string header = describe(slot).dump();
    Prefix prefix{};
    std::memcpy(prefix.magic, MAGIC, sizeof(MAGIC));
    prefix.version = VERSION;
    prefix.header_bytes = static_cast<uint32_t>(header.size());

    FileBeside file(path);
    Sha256Stream hash;
    const auto put = [&](const void *bytes, size_t count) {
        hash.add(bytes, count);
        file.write(bytes, count);
    };
    put(&prefix, sizeof(prefix));
    put(header.data(), header.size());
    put(slot.tokens.data(), slot.tokens.size() * sizeof(llama_token));
    put(slot.waiting.data(), slot.waiting.size() * sizeof(llama_token));
    put(slot.state.data(), slot.state.size());
    const auto digest = hash.finish();
    file.write(digest.data(), digest.size());
    if (!file.publish()) {
        throw Failure(Code::SLOT_WRITE_FAILED, path + " cannot be written",
                      "check the folder, its permissions and the space that is left");
    }
}

Slot read_slot(const std::string &path, const SlotStamp &expected) {
    std::error_code code;
    const uint64_t size = std::filesystem::is_regular_file(path, code) ? std::filesystem::file_size(path, code) : 0;
    std::ifstream file(path, std::ios::binary);
    if (code || !file || !std::filesystem::is_regular_file(path, code)) {
        throw Failure(Code::SLOT_NOT_FOUND, path + " cannot be read", "check the path of the slot");
    }
    Sha256Stream hash;
    const auto get = [&](void *bytes, uint64_t count) {
        if (!file.read(static_cast<char *>(bytes), static_cast<std::streamsize>(count))) {
            invalid(path, "it cannot be read whole");
        }
        hash.add(bytes, count);
    };
    Prefix prefix{};
    if (size < sizeof(prefix)) invalid(path, "it is no slot");
    get(&prefix, sizeof(prefix));
    if (std::memcmp(prefix.magic, MAGIC, sizeof(MAGIC)) != 0) invalid(path, "it is no slot");
    if (prefix.version != VERSION) {
        invalid(path, "its format version is " + std::to_string(prefix.version) + ", this library reads " +
                          std::to_string(VERSION));
    }
    if (prefix.header_bytes > MAX_HEADER_BYTES || size < sizeof(prefix) + prefix.header_bytes + SHA256_DIGEST_SIZE) {
        invalid(path, "it is cut");
    }
    std::string text(prefix.header_bytes, '\0');
    get(text.data(), text.size());
    const json header = json::parse(text, nullptr, false);
    Slot slot;
    SlotStamp &stamp = slot.stamp;
    uint64_t tokens = 0;
    uint64_t waiting = 0;
    uint64_t state_bytes = 0;
    try {
        header.at("runtime").get_to(stamp.runtime);
        header.at("model").get_to(stamp.model);
        header.at("cache_type_k").get_to(stamp.cache_type_k);
        header.at("cache_type_v").get_to(stamp.cache_type_v);
        header.at("rotation_k").get_to(stamp.rotation_k);
        header.at("rotation_v").get_to(stamp.rotation_v);
        header.at("kv_map").get_to(stamp.kv_map);
        stamp.exact_tokens = header.value("exact_tokens", 0u); // not there before there was a window
        stamp.exact_sinks = header.value("exact_sinks", 0u);
        header.at("tokens").get_to(tokens);
        header.at("waiting").get_to(waiting);
        header.at("state_bytes").get_to(state_bytes);
    } catch (const json::exception &) {
        invalid(path, "its header cannot be read");
    }
    const uint64_t rest = size - sizeof(prefix) - prefix.header_bytes - SHA256_DIGEST_SIZE;
    const uint64_t most = rest / sizeof(llama_token);
    if (tokens > most || waiting > most - tokens || state_bytes != rest - (tokens + waiting) * sizeof(llama_token)) {
        invalid(path, "it is cut, or longer than it says");
    }
    slot.tokens.resize(tokens);
    get(slot.tokens.data(), tokens * sizeof(llama_token));
    slot.waiting.resize(waiting);
    get(slot.waiting.data(), waiting * sizeof(llama_token));
    slot.state.resize(state_bytes);
    get(slot.state.data(), state_bytes);
    std::array<unsigned char, SHA256_DIGEST_SIZE> stated{};
    if (!file.read(reinterpret_cast<char *>(stated.data()), stated.size()) || stated != hash.finish()) {
        invalid(path, "its bytes have changed since it was written");
    }
    check_same("runtime", stamp.runtime, expected.runtime);
    check_same("model", stamp.model, expected.model);
    check_same("type of K", stamp.cache_type_k, expected.cache_type_k);
    check_same("type of V", stamp.cache_type_v, expected.cache_type_v);
    check_same("rotation of K", stamp.rotation_k, expected.rotation_k);
    check_same("rotation of V", stamp.rotation_v, expected.rotation_v);
    check_same("learned map", stamp.kv_map, expected.kv_map);
    return slot;
}

} // namespace eliza
