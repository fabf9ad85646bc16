#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "lifetime/stop-at-exit.h"

namespace eliza {

struct CalibrationOptions {
    int32_t tokens = 24576; // rounded down to whole windows
    int32_t window = 2048;  // tokens of a text that the model sees at once
    int32_t threads = 0;    // 0: the processor's cores
    // The exact window whose pairs are left out of the statistics; -1: the default one, none where `window` is too short
    // for it to leave anything to look at.
    int32_t exact_tokens = -1;
    int32_t exact_sinks = -1;
};

// Throws INVALID_ARG. NULL or "": the defaults.
CalibrationOptions parse_calibration_options(const char *json);

// The statistics of a model's keys, values and queries over a text, gathered from llama.cpp's own graph.
class Calibration final : public Stoppable {
  public:
    // Loads the model. Throws what load_model throws, TEXT_TOO_SHORT, INVALID_ARG, MAP_UNSUPPORTED.
    Calibration(const std::string &model_path, const std::string &text, const CalibrationOptions &options);
    ~Calibration() override;

    // Runs the next few hundred tokens. False once all are done. CANCELLED once it was stopped.
    bool step();
    // Leaves the step that runs within one node of the graph.
    void stop() override;
    int32_t done() const;
    int32_t total() const;

    // Writes the statistics, whole or not at all; only when all tokens are done. The hashes go into the file.
    void save(const std::string &path, const std::string &model_sha256, const std::string &text_sha256) const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace eliza
