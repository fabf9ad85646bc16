#pragma once

#include <functional>
#include <string>

#include "select/llm-backend.h"

namespace eliza {

// What tells one plugin runtime from another.
struct PluginRuntime {
    const char *name;
    int rank;
    const char *variable; // environment variable that names the plugin's file
    const char *file;     // the plugin's file beside this library, without lib and its ending
    // The artifact of a bundle that it serves, empty if there is none; a look at names alone.
    std::string (*artifact)(const std::string &bundle);
    const char *artifacts; // in words, for the reason
};

// Registered whether or not its plugin is there; available where it is.
class PluginFactory final : public LlmBackendFactory {
  public:
    explicit PluginFactory(const PluginRuntime &runtime) : runtime_(runtime) {}

    const char *name() const override { return runtime_.name; }
    int preference_rank() const override { return runtime_.rank; }
    Verdict available() const override;
    Verdict can_serve(const char *bundle) const override;
    Verdict supports(const eliza_llm_stream_config_t &config, const StreamOptions &options) const override;
    Capabilities capabilities() const override;
    LlmBackendSession *open(EliInferenceContext *ctx, const eliza_llm_stream_config_t *config,
                            const StreamOptions &options, char **out_error) override;

  private:
    const PluginRuntime runtime_;
};

} // namespace eliza
