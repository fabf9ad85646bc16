#pragma once

#include <filesystem>
#include <string>

#include "runtimes/litert/plugin/model-file.h"

namespace eliza::litert {

// Where the library keeps a model's packed weights: a folder of ours in the user's cache folder, named for what is in the
// model's file. The library believes what it finds there, so it gets a folder only if every file is as it was written.
class CacheFolder {
  public:
    // One that is whole, or a new one under another name.
    explicit CacheFolder(const ModelFile &model);
    // Removes a new one that was not kept.
    ~CacheFolder();
    CacheFolder(const CacheFolder &) = delete;

    // What the library is told: a folder, or that there is none, where none can be made.
    std::string name() const;
    // The library has written what it writes: a new folder takes its name, with a record of what is in it.
    void keep();

  private:
    std::filesystem::path place_;
    std::filesystem::path made_; // empty for one that was whole
    bool usable_ = false;
};

} // namespace eliza::litert
