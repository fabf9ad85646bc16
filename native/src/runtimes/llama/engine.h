#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "ggml-cpu.h"
#include "runtimes/llama/map/learned-map.h"
#include "runtimes/llama/memory.h"
#include "runtimes/llama/pace.h"
#include "runtimes/llama/model.h"
#include "runtimes/llama/sequence.h"

namespace eliza {

struct ContextDeleter {
    void operator()(llama_context *context) const { llama_free(context); }
};

// A llama_context and the sequences that share it.
struct SharedContext {
    ContextShape shape;
    std::shared_ptr<ggml_threadpool> threads; // it and the map outlive the context that uses them
    std::unique_ptr<LearnedMap> map;
    std::unique_ptr<llama_context, ContextDeleter> context;
    std::vector<Sequence *> sequences; // by sequence id; NULL where free
    llama_batch batch{};
    size_t turn = 0;         // whose prompt comes first in the next batch
    bool rows_alone = false; // removing the end of a sequence undoes a batch
    Pace pace;
    std::vector<const Sequence *> computing; // of the batch that runs
    const std::atomic<bool> *stopping = nullptr;

    bool empty() const;
    // Whether a cancelled sequence stops the batch that runs: not where others would lose their state with it.
    bool can_leave() const { return rows_alone || computing.size() == 1; }
    // Asked by ggml after each node of the graph.
    bool should_abort();
    ~SharedContext();
};

// One loaded model and the one thread that computes with it. Streams are sequences of its contexts; those that share a
// context are decoded together, contexts take turns.
class Engine {
  public:
    // Throws what load_model throws.
    Engine(const std::string &path, int32_t n_gpu_layers, LoadProgress *progress = nullptr);
    ~Engine();

    const llama_model *model() const { return model_.get(); }
    const std::string &path() const { return path_; }
    int32_t n_gpu_layers() const { return n_gpu_layers_; }
    // Of the file as it was when it was loaded.
    const std::string &fingerprint() const { return fingerprint_; }

    // Gives the sequence a place. Throws OUT_OF_MEMORY or CONTEXT_FAILED.
    void attach(Sequence &sequence, const ContextShape &shape);
    // Takes it away; waits until the engine has let go.
    void detach(Sequence &sequence);
    // Hands prompt tokens over; returns at once.
    void prefill(Sequence &sequence, std::vector<llama_token> ids);
    // Forgets all but the first n_keep tokens; returns how many are left.
    int32_t keep(Sequence &sequence, int32_t n_keep);
    // On the engine thread: nothing of an earlier generation is left but the tokens in the cache.
    static void start_anew(Sequence &sequence);
    // Those in the sequence's cache, then those that wait to go there.
    std::vector<llama_token> tokens(const Sequence &sequence);
    // Other options for what is generated from here on; returns at once.
    void configure(Sequence &sequence, const GenerationOptions &options);
    // Something that the engine waits for may have changed.
    void wake();
    // Runs `task` on the engine thread between two batches and waits for it. Exceptions come back. Throws CLOSED once
    // the engine was stopped.
    void run(const std::function<void()> &task);
    // Ends the thread within one node of its graph, for good. Nothing of the model is freed.
    void stop();

  private:
    void loop();
    SharedContext *next_context();
    SharedContext &make_context(const ContextShape &shape);
    void check_memory(const ContextShape &shape) const;
    void release_idle_contexts(const SharedContext *except);
    std::shared_ptr<ggml_threadpool> threads(int32_t count);
    void post(std::function<void()> task);

    const std::string path_;
    const int32_t n_gpu_layers_;
    ModelPtr model_;
    const std::string fingerprint_;
    std::map<int32_t, std::weak_ptr<ggml_threadpool>> threadpools_;
    std::list<SharedContext> contexts_;
    SharedContext *last_context_ = nullptr;

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::function<void()>> tasks_;
    bool woken_ = false;
    std::atomic<bool> stopping_{false};
    std::thread thread_;
};

} // namespace eliza
