#include "runtimes/llama/model.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <regex>
#include <vector>

#include "error/failure.h"
#include "ggml-backend.h"
#include "runtimes/llama/log-capture.h"

namespace eliza {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void invalid(const std::string &path, const std::string &reason) {
    throw Failure(Code::MODEL_INVALID, path + ": " + reason,
                  "check the file's hash against its source, or fetch it again");
}

ggml_backend_dev_t gpu_device() {
    for (size_t i = 0; i < ggml_backend_dev_count(); ++i) {
        ggml_backend_dev_t device = ggml_backend_dev_get(i);
        const auto type = ggml_backend_dev_type(device);
        if (type == GGML_BACKEND_DEVICE_TYPE_GPU || type == GGML_BACKEND_DEVICE_TYPE_IGPU) return device;
    }
    return nullptr;
}

} // namespace

std::string find_gguf(const std::string &bundle) {
    std::error_code code;
    if (fs::is_regular_file(bundle, code)) return bundle;
    if (!fs::is_directory(bundle, code)) {
        throw Failure(Code::MODEL_NOT_FOUND, bundle + " is neither a file nor a folder",
                      "pass a .gguf file or a bundle folder");
    }
    static const std::regex later_part(R"(-(\d{5})-of-\d{5}\.gguf$)");
    std::vector<std::string> models;
    for (const auto &entry : fs::directory_iterator(fs::path(bundle) / "text", code)) {
        const std::string path = entry.path().string();
        if (entry.path().extension() != ".gguf") continue;
        std::smatch part;
        if (std::regex_search(path, part, later_part) && part[1] != "00001") continue;
        models.push_back(path);
    }
    if (models.empty()) {
        throw Failure(Code::MODEL_NOT_FOUND, bundle + " has no text/*.gguf",
                      "put the model's .gguf file into the bundle's text folder");
    }
    if (models.size() > 1) {
        std::ranges::sort(models);
        std::string list;
        for (const std::string &model : models)
            list += (list.empty() ? "" : ", ") + fs::path(model).filename().string();
        throw Failure(Code::MODEL_INVALID, bundle + " has several models: " + list, "name the .gguf file itself");
    }
    return models.front();
}

ModelPtr load_model(const std::string &path, int32_t n_gpu_layers, bool repack, LoadProgress *progress) {
    capture_llama_log();
    std::error_code code;
    const auto size = fs::file_size(path, code);
    if (code) invalid(path, "cannot be read (" + code.message() + ")");
    if (size == 0) invalid(path, "the file is empty");
    char magic[4] = {};
    std::ifstream file(path, std::ios::binary);
    if (!file.read(magic, sizeof(magic)) || std::memcmp(magic, "GGUF", sizeof(magic)) != 0) {
        invalid(path, file.fail() && !file.eof() ? "cannot be read" : "this is not a GGUF file");
    }
    file.close();
    if (n_gpu_layers > 0 && gpu_device() == nullptr) {
        throw Failure(Code::BACKEND_UNAVAILABLE,
                      "n_gpu_layers is " + std::to_string(n_gpu_layers) + " and this build sees no GPU device",
                      "use 0 for the CPU, or -1 to take a GPU only where there is one");
    }
    llama_model_params params = llama_model_default_params();
    params.n_gpu_layers = n_gpu_layers;
    params.use_extra_bufts = repack;
    if (progress != nullptr) {
        params.progress_callback_user_data = progress;
        params.progress_callback = [](float share, void *user) {
            auto *here = static_cast<LoadProgress *>(user);
            here->per_mille = static_cast<int32_t>(share * 1000.0f);
            return !here->cancelled.load();
        };
    }
    take_llama_errors();
    ModelPtr model(llama_model_load_from_file(path.c_str(), params));
    if (progress != nullptr && progress->cancelled) {
        throw Failure(Code::CANCELLED, "loading " + path + " was cancelled", "load it again when it is wanted");
    }
    if (model == nullptr) {
        const std::string reason = take_llama_errors();
        invalid(path, reason.empty() ? "llama.cpp could not load it" : reason);
    }
    if (!llama_model_has_decoder(model.get()) || llama_model_has_encoder(model.get()) ||
        llama_model_is_diffusion(model.get())) {
        throw Failure(Code::NOT_IMPLEMENTED, path + " is no decoder-only model", "use a causal language model");
    }
    if (llama_vocab_n_tokens(llama_model_get_vocab(model.get())) == 0) invalid(path, "it has no vocabulary");
    return model;
}

std::string describe_device(int32_t n_gpu_layers) {
    ggml_backend_dev_t device = n_gpu_layers == 0 ? nullptr : gpu_device();
    if (device == nullptr) device = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
    if (device == nullptr) return "CPU";
    return std::string(ggml_backend_dev_name(device)) + " (" + ggml_backend_dev_description(device) + ")";
}

std::string model_meta(const llama_model *model, const std::string &key) {
    const int32_t length = llama_model_meta_val_str(model, key.c_str(), nullptr, 0);
    if (length < 0) return {};
    std::string value(static_cast<size_t>(length) + 1, '\0');
    llama_model_meta_val_str(model, key.c_str(), value.data(), value.size());
    value.resize(static_cast<size_t>(length));
    return value;
}

} // namespace eliza
