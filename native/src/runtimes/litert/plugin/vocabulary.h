#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtimes/litert/plugin/model-file.h"

namespace eliza::litert {

// What tokens are spelled as, read from the file's tokenizer section. The library has one decoder for all threads, which
// is busy while it generates; this one is immutable.
class Vocabulary {
  public:
    // Throws MODEL_INVALID for a section that is broken, NOT_IMPLEMENTED for a kind of tokenizer that is not known.
    static Vocabulary read(const ModelFile &model);

    int32_t size() const { return static_cast<int32_t>(bytes_.size()); }
    bool contains(int32_t id) const { return id >= 0 && id < size(); }
    // The bytes that the token stands for, not necessarily whole characters; a control token's marker.
    const std::string &bytes(int32_t id) const { return bytes_[static_cast<size_t>(id)]; }
    bool is_control(int32_t id) const { return control_[static_cast<size_t>(id)]; }
    // Ids of all control tokens.
    const std::vector<int32_t> &controls() const { return controls_; }
    // The control token that is spelled so, -1 for none.
    int32_t control_of(std::string_view marker) const;
    // Where the next marker of a control token begins in `text` from `from` on, and its length; npos for none. Of several
    // at one place the longest.
    size_t find_marker(std::string_view text, size_t from, size_t *length) const;

  private:
    void set(int32_t id, std::string bytes, bool control);
    void finish();
    static Vocabulary of_hugging_face(const ModelFile &model, const std::string &json);
    static Vocabulary of_sentencepiece(const ModelFile &model, const std::string &proto);

    std::vector<std::string> bytes_;
    std::vector<bool> control_;
    std::vector<int32_t> controls_;
    std::unordered_map<std::string, int32_t> by_marker_;
};

} // namespace eliza::litert
