#include "runtimes/litert/factory.h"

#include "runtimes/plugin/plugin-factory.h"
#include "runtimes/plugin/bundle-artifacts.h"

namespace eliza {

LlmBackendFactory *litert_factory() {
    static PluginFactory factory({"litert-lm", 20, "ELIZA_LITERT_PLUGIN", "elizainference-litert",
                                  [](const std::string &bundle) { return only_artifact(bundle, {".litertlm"}); },
                                  "text/*.litertlm, or has several"});
    return &factory;
}

} // namespace eliza
