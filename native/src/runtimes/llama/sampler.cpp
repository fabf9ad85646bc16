#include "runtimes/llama/sampler.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include <nlohmann/json.hpp>

#include "error/failure.h"
#include "llama-model.h"

namespace eliza {

namespace {

constexpr int32_t MIROSTAT_CANDIDATES = 100; // as in the paper

bool cuts(float probability) { return probability > 0.0f && probability < 1.0f; }

bool penalises(const GenerationOptions &options) {
    const bool repeat = options.repeat_penalty > 0.0f && options.repeat_penalty != 1.0f;
    return options.penalty_last_n > 0 &&
           (repeat || options.presence_penalty != 0.0f || options.frequency_penalty != 0.0f);
}

} // namespace

Sampler::Sampler(const GenerationOptions &options, const llama_vocab *vocab)
    : vocab_(vocab), n_vocab_(llama_vocab_n_tokens(vocab)),
      draws_(llama_sampler_init_dist(options.seed.value_or(std::random_device{}()))) {
    check(options, vocab);
    build(options);
}

void Sampler::check(const GenerationOptions &options, const llama_vocab *vocab) {
    const int32_t tokens = llama_vocab_n_tokens(vocab);
    for (const LogitBias &each : options.logit_bias) {
        if (each.token < tokens) continue;
        throw Failure(Code::INVALID_ARGUMENT,
                      "logit_bias has the token " + std::to_string(each.token) + ", the model has " +
                          std::to_string(tokens),
                      "give ids that the model's tokenizer gave");
    }
    if (!options.grammar.empty()) Grammar(vocab, options.grammar);
}

void Sampler::build(const GenerationOptions &options) {
    logprobs_ = options.logprobs;
    grammar_.reset();
    if (!options.grammar.empty()) grammar_.emplace(vocab_, options.grammar);
    chain_.reset(llama_sampler_chain_init(llama_sampler_chain_default_params()));
    chain_draws_ = false;
    if (!options.logit_bias.empty()) {
        std::vector<llama_logit_bias> biases;
        for (const LogitBias &each : options.logit_bias) biases.push_back({each.token, each.bias});
        add(llama_sampler_init_logit_bias(n_vocab_, static_cast<int32_t>(biases.size()), biases.data()));
    }
    if (penalises(options)) {
        const float repeat = options.repeat_penalty > 0.0f ? options.repeat_penalty : 1.0f;
        add(llama_sampler_init_penalties(n_vocab_, options.penalty_last_n, repeat, options.frequency_penalty,
                                         options.presence_penalty));
    }
    if (options.dry.multiplier > 0.0f) {
        std::vector<const char *> breakers;
        for (const std::string &breaker : options.dry.breakers) breakers.push_back(breaker.c_str());
        add(llama_sampler_init_dry(vocab_, options.dry.multiplier, options.dry.base, options.dry.allowed_length,
                                   options.dry.last_n, breakers.data(), breakers.size()));
    }
    if (options.temperature <= 0.0f) {
        add(llama_sampler_init_greedy());
        return;
    }
    const uint32_t seed = options.seed.value_or(std::random_device{}());
    if (options.mirostat.version != 0) {
        const auto [version, tau, eta] = options.mirostat;
        add(llama_sampler_init_temp(options.temperature));
        add(version == 1 ? llama_sampler_init_mirostat(n_vocab_, seed, tau, eta, MIROSTAT_CANDIDATES)
                         : llama_sampler_init_mirostat_v2(seed, tau, eta));
        return;
    }
    if (options.top_k > 0) add(llama_sampler_init_top_k(options.top_k));
    if (cuts(options.typical_p)) add(llama_sampler_init_typical(options.typical_p, 1));
    if (cuts(options.top_p)) add(llama_sampler_init_top_p(options.top_p, 1));
    if (options.min_p > 0.0f) add(llama_sampler_init_min_p(options.min_p, 1));
    if (options.xtc.probability > 0.0f) {
        add(llama_sampler_init_xtc(options.xtc.probability, options.xtc.threshold, 1, seed));
    }
    add(llama_sampler_init_temp(options.temperature));
    chain_draws_ = true;
    add(draws_.release());
}

void Sampler::configure(const GenerationOptions &options, const std::vector<llama_token> &seen) {
    if (chain_draws_) draws_.reset(llama_sampler_chain_remove(chain_.get(), llama_sampler_chain_n(chain_.get()) - 1));
    if (options.seed) draws_.reset(llama_sampler_init_dist(*options.seed));
    build(options);
    for (const llama_token token : seen) accept(token);
}

void Sampler::fill(const float *logits) {
    candidates_.resize(static_cast<size_t>(n_vocab_));
    for (llama_token id = 0; id < n_vocab_; ++id) candidates_[static_cast<size_t>(id)] = {id, logits[id], 0.0f};
}

llama_token Sampler::draw() {
    llama_token_data_array array{candidates_.data(), candidates_.size(), -1, false};
    llama_sampler_apply(chain_.get(), &array);
    return array.selected < 0 ? LLAMA_TOKEN_NULL : array.data[array.selected].id;
}

llama_token Sampler::sample(const float *logits) {
    fill(logits);
    llama_token token = draw();
    if (grammar_ && (token == LLAMA_TOKEN_NULL || !grammar_->allows(token))) {
        fill(logits);
        if (!grammar_->mask(candidates_)) return LLAMA_TOKEN_NULL;
        // What may not come is gone before any other sampler, so that none of them can leave nothing else.
        std::erase_if(candidates_, [](const llama_token_data &each) { return each.logit == -INFINITY; });
        token = draw();
    }
    if (token == LLAMA_TOKEN_NULL) return token;
    accept(token);
    if (grammar_) grammar_->accept(token);
    return token;
}

std::string Sampler::logprobs(const float *logits, llama_token token) const {
    if (logprobs_ < 0) return "";
    const float largest = *std::max_element(logits, logits + n_vocab_);
    double sum = 0;
    for (int32_t i = 0; i < n_vocab_; ++i) sum += std::exp(double(logits[i]) - largest);
    const double norm = largest + std::log(sum);
    const auto of = [&](int32_t id) { return double(logits[id]) - norm; };
    const auto count = static_cast<size_t>(std::min(logprobs_, n_vocab_));
    std::vector<int32_t> ids(static_cast<size_t>(n_vocab_));
    std::iota(ids.begin(), ids.end(), 0);
    std::partial_sort(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(count), ids.end(),
                      [&](int32_t a, int32_t b) { return logits[a] != logits[b] ? logits[a] > logits[b] : a < b; });
    auto top = nlohmann::json::array();
    for (size_t i = 0; i < count; ++i) top.push_back({ids[i], of(ids[i])});
    return nlohmann::json{{"token", token}, {"logprob", of(token)}, {"top", top}}.dump();
}

void Sampler::restart(const std::vector<llama_token> &seen) {
    llama_sampler_reset(chain_.get());
    if (draws_ != nullptr) llama_sampler_reset(draws_.get());
    if (grammar_) grammar_->restart();
    for (const llama_token token : seen) accept(token);
}

} // namespace eliza
