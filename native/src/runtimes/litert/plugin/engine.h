#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtimes/litert/plugin/accelerators.h"
#include "runtimes/litert/plugin/litert-api.h"
#include "runtimes/litert/plugin/llm-metadata.h"
#include "runtimes/litert/plugin/model-file.h"
#include "runtimes/litert/plugin/turn.h"
#include "runtimes/litert/plugin/vocabulary.h"

namespace eliza::litert {

// A loaded model: one engine of the library, which all sessions on the file share.
class Engine {
  public:
    // The engine for a file, loaded if no session and no `retain` has it. n_gpu_layers 0: on the CPU, else on the best
    // accelerator that is really there. Throws MODEL_INVALID, BACKEND_UNAVAILABLE, …
    static std::shared_ptr<Engine> open(const std::string &path, int32_t threads, int32_t n_gpu_layers);
    // Keeps those that are loaded so until as many releases.
    static void retain(const std::string &path, int32_t threads);
    static void release(const std::string &path, int32_t threads);
    ~Engine();
    Engine(const Engine &) = delete;

    // Ids of a text without a NUL; markers of control tokens become theirs.
    std::vector<int32_t> tokenize(const std::string &text) const;

    const LitertApi &api;
    const ModelFile file;
    const LlmMetadata metadata;
    const Vocabulary vocabulary;
    const int32_t threads;
    Turn turn;
    // It did not come back from a call: nothing of it may be touched or freed any more.
    std::atomic<bool> lost = false;

    void *handle() const { return handle_; }
    // Every rung that was looked at; the last one answers.
    const std::vector<Rung> &ladder() const { return ladder_; }
    int32_t max_tokens() const { return max_tokens_; }
    // The token that the library puts before every sequence, -1 for none.
    int32_t start_token() const { return start_token_; }
    // Tokens that end an answer by themselves.
    const std::vector<int32_t> &stop_tokens() const { return stop_tokens_; }

  private:
    Engine(const LitertApi &api, ModelFile file, int32_t threads);
    void create(int32_t n_gpu_layers);
    bool create_on(Rung *rung, const std::string &libraries);
    void read_facts();
    std::vector<int32_t> ids_of_union(const void *token) const;

    void *handle_ = nullptr;
    std::vector<Rung> ladder_;
    int32_t max_tokens_ = 0;
    int32_t start_token_ = -1;
    std::vector<int32_t> stop_tokens_;
};

} // namespace eliza::litert
