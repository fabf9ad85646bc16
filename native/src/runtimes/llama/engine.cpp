#include "runtimes/llama/engine.h"

#include <algorithm>
#include <future>
#include <utility>

#include "error/failure.h"
#include "lifetime/stop-at-exit.h"
#include "llama-model.h"
#include "runtimes/llama/decode.h"
#include "runtimes/llama/log-capture.h"
#include "runtimes/llama/model-fingerprint.h"
#include "runtimes/llama/prefix.h"

namespace eliza {

namespace {

// Room for the graph's work buffers, beside the cache.
constexpr uint64_t COMPUTE_HEADROOM = 256ull << 20;

std::string mebibytes(uint64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

} // namespace

bool SharedContext::empty() const {
    return std::ranges::all_of(sequences, [](const Sequence *sequence) { return sequence == nullptr; });
}

SharedContext::~SharedContext() {
    if (batch.token != nullptr) llama_batch_free(batch);
    if (context != nullptr) llama_detach_threadpool(context.get());
}

bool SharedContext::should_abort() {
    pace.mark(llama_time_us());
    if (*stopping) return true;
    const auto cancelled = [](const Sequence *sequence) { return sequence->cancelled.load(); };
    return rows_alone ? std::ranges::any_of(computing, cancelled) : std::ranges::all_of(computing, cancelled);
}

Engine::Engine(const std::string &path, int32_t n_gpu_layers, LoadProgress *progress)
    : path_(path), n_gpu_layers_(n_gpu_layers), model_(load_model(path, n_gpu_layers, true, progress)),
      fingerprint_(model_fingerprint(path)), thread_([this] { loop(); }) {
    renew_exit_handler();
}

Engine::~Engine() {
    stop();
    contexts_.clear();
}

void Engine::stop() {
    std::deque<std::function<void()>> left;
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
        changed_.notify_all();
    }
    if (thread_.joinable()) thread_.join();
    const std::lock_guard lock(mutex_);
    left.swap(tasks_); // who waits for one of them hears that it never ran
}

void Engine::post(std::function<void()> task) {
    const std::lock_guard lock(mutex_);
    if (stopping_) throw Failure(Code::CLOSED, "the engine was stopped", "load the model in a new process");
    tasks_.push_back(std::move(task));
    changed_.notify_all();
}

void Engine::run(const std::function<void()> &task) {
    auto packaged = std::make_shared<std::packaged_task<void()>>(task);
    std::future<void> done = packaged->get_future();
    post([packaged] { (*packaged)(); });
    packaged.reset();
    try {
        done.get();
    } catch (const std::future_error &) {
        throw Failure(Code::CLOSED, "the engine was stopped", "load the model in a new process");
    }
}

void Engine::wake() {
    const std::lock_guard lock(mutex_);
    woken_ = true;
    changed_.notify_all();
}

void Engine::loop() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
        if (!tasks_.empty()) {
            const auto task = std::move(tasks_.front());
            tasks_.pop_front();
            lock.unlock();
            task();
            lock.lock();
            continue;
        }
        woken_ = false;
        lock.unlock();
        SharedContext *shared = next_context();
        if (shared != nullptr) decode_step(*shared, llama_model_get_vocab(model_.get()));
        lock.lock();
        if (shared == nullptr) changed_.wait(lock, [&] { return stopping_ || woken_ || !tasks_.empty(); });
    }
}

// Contexts take turns: the first with work after the one that was computed last.
SharedContext *Engine::next_context() {
    std::vector<SharedContext *> order;
    for (SharedContext &shared : contexts_) order.push_back(&shared);
    const auto last = std::ranges::find(order, last_context_);
    if (last != order.end()) std::ranges::rotate(order, last + 1);
    for (SharedContext *shared : order) {
        const auto has_work = [](const Sequence *sequence) { return sequence != nullptr && runnable(*sequence); };
        if (std::ranges::any_of(shared->sequences, has_work)) return last_context_ = shared;
    }
    return nullptr;
}

void Engine::attach(Sequence &sequence, const ContextShape &shape) {
    run([&] {
        SharedContext *place = nullptr;
        for (SharedContext &shared : contexts_) {
            if (shared.shape == shape && std::ranges::count(shared.sequences, nullptr) > 0) place = &shared;
        }
        if (place == nullptr) place = &make_context(shape);
        const auto slot = std::ranges::find(place->sequences, nullptr);
        *slot = &sequence;
        sequence.shared = place;
        sequence.id = static_cast<llama_seq_id>(slot - place->sequences.begin());
        sequence.context_size = shape.context_size;
    });
}

void Engine::detach(Sequence &sequence) {
    sequence.cancelled = true;
    const auto take_away = [&] {
        SharedContext *shared = sequence.shared;
        if (shared == nullptr) return;
        llama_memory_seq_rm(llama_get_memory(shared->context.get()), sequence.id, -1, -1);
        shared->sequences[static_cast<size_t>(sequence.id)] = nullptr;
        sequence.shared = nullptr;
        // One context stays warm for the next stream.
        if (shared->empty()) release_idle_contexts(shared);
    };
    try {
        run(take_away);
    } catch (const Failure &) {
        sequence.shared = nullptr; // the engine was stopped: no thread looks at it any more
    }
}

void Engine::release_idle_contexts(const SharedContext *except) {
    std::erase_if(contexts_, [&](const SharedContext &shared) {
        const bool drop = &shared != except && shared.empty();
        if (drop && last_context_ == &shared) last_context_ = nullptr;
        return drop;
    });
}

void Engine::check_memory(const ContextShape &shape) const {
    const uint64_t need = cache_bytes(model_->hparams, shape) + COMPUTE_HEADROOM;
    const uint64_t have = available_memory();
    if (have == 0 || need <= have) return;
    throw Failure(Code::OUT_OF_MEMORY,
                  "a context of " + std::to_string(shape.context_size) + " tokens for " +
                      std::to_string(shape.max_streams) + " stream(s) needs " + mebibytes(need) + ", " +
                      mebibytes(have) + " are available",
                  "ask for a smaller context, or a smaller cache type such as turbo4");
}

SharedContext &Engine::make_context(const ContextShape &shape) {
    release_idle_contexts(nullptr);
    check_memory(shape);
    llama_context_params params = llama_context_default_params();
    params.n_ctx = static_cast<uint32_t>(shape.context_size) * static_cast<uint32_t>(shape.max_streams);
    params.n_batch = static_cast<uint32_t>(shape.batch_size);
    params.n_ubatch = static_cast<uint32_t>(shape.ubatch_size);
    params.n_seq_max = static_cast<uint32_t>(shape.max_streams);
    params.n_outputs_max = params.n_seq_max;
    params.n_threads = shape.threads;
    params.n_threads_batch = shape.threads;
    params.type_k = shape.type_k;
    params.type_v = shape.type_v;
    params.exact_recent = shape.exact.recent;
    params.exact_sinks = shape.exact.sinks;
    params.offload_kqv = n_gpu_layers_ != 0;
    params.swa_full = false;
    params.no_perf = true;

    take_llama_errors();
    SharedContext &shared = contexts_.emplace_back();
    shared.shape = shape;
    try {
        if (!shape.kv_map.empty()) {
            shared.map = std::make_unique<LearnedMap>(shape.kv_map, model_.get(), shape.type_k, shape.type_v,
                                                      params.offload_kqv);
            params.kv_map = shared.map->graph();
        }
        shared.context.reset(llama_init_from_model(model_.get(), params));
        if (shared.context != nullptr && shared.map != nullptr) shared.map->check_sharing(shared.context.get());
    } catch (...) {
        contexts_.pop_back();
        throw;
    }
    if (shared.context == nullptr) {
        contexts_.pop_back();
        const std::string reason = take_llama_errors();
        throw Failure(Code::CONTEXT_FAILED, "llama.cpp made no context" + (reason.empty() ? "" : ": " + reason),
                      "try the cache type f16, or a smaller context or batch");
    }
    shared.threads = threads(shape.threads);
    llama_attach_threadpool(shared.context.get(), shared.threads.get(), shared.threads.get());
    shared.rows_alone = is_rows_alone(llama_get_memory(shared.context.get()));
    shared.pace = Pace(shape.ubatch_size);
    shared.stopping = &stopping_;
    const auto abort = [](void *context) { return static_cast<SharedContext *>(context)->should_abort(); };
    llama_set_abort_callback(shared.context.get(), abort, &shared);
    shared.sequences.assign(static_cast<size_t>(shape.max_streams), nullptr);
    shared.batch = llama_batch_init(shape.ubatch_size, 0, 1);
    renew_exit_handler();
    return shared;
}

// Contexts with as many threads share them; they end with the last of these contexts.
std::shared_ptr<ggml_threadpool> Engine::threads(int32_t count) {
    std::shared_ptr<ggml_threadpool> pool = threadpools_[count].lock();
    if (pool == nullptr) {
        ggml_threadpool_params params = ggml_threadpool_params_default(count);
        // Workers spin for about 2 ms between graphs, enough to bridge sampling, and then leave the cores to others.
        params.poll = 1;
        pool.reset(ggml_threadpool_new(&params), ggml_threadpool_free);
        if (pool == nullptr) throw std::bad_alloc();
        threadpools_[count] = pool;
    }
    return pool;
}

void Engine::prefill(Sequence &sequence, std::vector<llama_token> ids) {
    post([&sequence, ids = std::move(ids)] {
        if (sequence.cancelled) return;
        if (sequence.prompt.empty()) {
            sequence.generated = 0;
            sequence.utf8.clear();
            sequence.stops.clear();
            const std::lock_guard lock(sequence.timing_mutex);
            sequence.timing.reused_tokens = static_cast<int32_t>(sequence.tokens.size());
        }
        sequence.prompt.insert(sequence.prompt.end(), sequence.waiting.begin(), sequence.waiting.end());
        sequence.waiting.clear();
        // A generation that was cut by its length left its last token outside the cache.
        if (sequence.pending != LLAMA_TOKEN_NULL) {
            sequence.prompt.push_back(std::exchange(sequence.pending, LLAMA_TOKEN_NULL));
        }
        sequence.prompt.insert(sequence.prompt.end(), ids.begin(), ids.end());
        const std::lock_guard lock(sequence.timing_mutex);
        sequence.timing.prompt_tokens += static_cast<int32_t>(ids.size());
    });
}

int32_t Engine::keep(Sequence &sequence, int32_t n_keep) {
    int32_t kept = 0;
    run([&] {
        llama_memory_t memory = llama_get_memory(sequence.shared->context.get());
        kept = std::clamp<int32_t>(n_keep, 0, static_cast<int32_t>(sequence.tokens.size()));
        if (!holds_prefix(memory, model_->hparams, sequence.id, kept) ||
            !llama_memory_seq_rm(memory, sequence.id, kept, -1)) {
            kept = 0;
        }
        if (kept == 0) llama_memory_seq_rm(memory, sequence.id, -1, -1);
        sequence.tokens.resize(static_cast<size_t>(kept));
        sequence.tell_held();
        sequence.waiting.clear();
        start_anew(sequence);
        sequence.planned = kept;
    });
    return kept;
}

void Engine::start_anew(Sequence &sequence) {
    sequence.prompt.clear();
    sequence.pending = LLAMA_TOKEN_NULL;
    sequence.generated = 0;
    sequence.utf8.clear();
    sequence.stops.clear();
    sequence.sampler->restart(sequence.tokens);
    sequence.generating = false;
    const std::lock_guard lock(sequence.timing_mutex);
    sequence.timing = Timing{};
}

void Engine::configure(Sequence &sequence, const GenerationOptions &options) {
    post([&sequence, options] {
        sequence.max_tokens = options.max_tokens;
        sequence.stops.set(options.stop);
        sequence.sampler->configure(options, sequence.tokens);
    });
}

std::vector<llama_token> Engine::tokens(const Sequence &sequence) {
    std::vector<llama_token> all;
    run([&] {
        all = sequence.tokens;
        const std::vector<llama_token> more = sequence.outside_cache();
        all.insert(all.end(), more.begin(), more.end());
    });
    return all;
}

} // namespace eliza
