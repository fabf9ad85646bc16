#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "llama.h"

namespace eliza {

// What a saved sequence was computed with. All of it must be the same where it is restored.
struct SlotStamp {
    std::string runtime;      // llama.cpp and its version
    std::string model;        // model_fingerprint of its file
    std::string cache_type_k; // name, and for our own what its bytes decode to
    std::string cache_type_v;
    bool rotation_k = false; // llama.cpp's own, in the graph
    bool rotation_v = false;
    std::string kv_map; // identity of the learned map, empty for none
    // The window whose exact rows the state holds; any other can read it, and takes the rows that it has room for.
    uint32_t exact_tokens = 0;
    uint32_t exact_sinks = 0;
};

// A sequence as a file keeps it.
struct Slot {
    SlotStamp stamp;
    std::vector<llama_token> tokens;  // in the cache
    std::vector<llama_token> waiting; // come next, before any prompt
    std::vector<uint8_t> state;       // llama.cpp's bytes of the cache
};

// The file is "ELIZSLOT", a version, the length of a JSON header, the header, tokens, waiting tokens, state, and the SHA-256 of all
// before it; integers are little-endian. It is written beside and renamed. Throws SLOT_WRITE_FAILED.
void write_slot(const std::string &path, const Slot &slot);

// Reads a slot that was computed as `expected` says. Nothing of the file is used before its length and its hash are
// right. Throws SLOT_NOT_FOUND, SLOT_INVALID (no slot, cut, changed), SLOT_MISMATCH (what differs).
Slot read_slot(const std::string &path, const SlotStamp &expected);

} // namespace eliza
