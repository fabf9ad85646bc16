#include <memory>

#include "eliza-inference-ffi.h"
#include "ffi/context.h"
#include "error/failure.h"
#include "runtimes/llama/map/calibration.h"
#include "runtimes/llama/model.h"

using eliza::Code;
using eliza::Failure;
using eliza::guarded;

struct EliCalibration {
    std::unique_ptr<eliza::Calibration> run;
};

namespace {

[[noreturn]] void missing(const char *what) {
    throw Failure(Code::INVALID_ARGUMENT, std::string(what) + " is NULL", "pass it");
}

} // namespace

EliCalibration *eliza_inference_calibration_open(EliInferenceContext *ctx, const char *text, size_t text_bytes,
                                                 const char *options_json, char **out_error) {
    EliCalibration *opened = nullptr;
    guarded(out_error, [&] {
        if (ctx == nullptr || text == nullptr) missing("the context or the text");
        if (text_bytes > (size_t(1) << 30)) {
            throw Failure(Code::INVALID_ARGUMENT, "the text has more than 1 GiB", "give a shorter one");
        }
        const eliza::CalibrationOptions options = eliza::parse_calibration_options(options_json);
        auto calibration = std::make_unique<EliCalibration>();
        calibration->run =
            std::make_unique<eliza::Calibration>(eliza::find_gguf(ctx->bundle), std::string(text, text_bytes), options);
        opened = calibration.release();
        return ELIZA_OK;
    });
    return opened;
}

int eliza_inference_calibration_step(EliCalibration *calibration, int32_t *done_out, int32_t *total_out,
                                     char **out_error) {
    return guarded(out_error, [&] {
        if (calibration == nullptr || done_out == nullptr || total_out == nullptr)
            missing("the calibration or an output");
        const bool more = calibration->run->step();
        *done_out = calibration->run->done();
        *total_out = calibration->run->total();
        return more ? 0 : 1;
    });
}

int eliza_inference_calibration_save(EliCalibration *calibration, const char *filename, const char *model_sha256,
                                     const char *text_sha256, char **out_error) {
    return guarded(out_error, [&] {
        if (calibration == nullptr || filename == nullptr || model_sha256 == nullptr || text_sha256 == nullptr) {
            missing("the calibration, its file or a hash");
        }
        calibration->run->save(filename, model_sha256, text_sha256);
        return ELIZA_OK;
    });
}

void eliza_inference_calibration_close(EliCalibration *calibration) {
    guarded(nullptr, [&] {
        delete calibration;
        return ELIZA_OK;
    });
}
