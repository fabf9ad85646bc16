#pragma once

#include <cstddef>
#include <cstdio>
#include <string>

namespace eliza {

// A file that is written under another name in the same folder, and takes its own when it is whole. While it is written
// it is locked; what a process that was killed left behind is locked by nobody, and goes when the file is next written.
class FileBeside {
  public:
    explicit FileBeside(const std::string &path);
    // What was not published is removed.
    ~FileBeside();
    FileBeside(const FileBeside &) = delete;

    void write(const void *bytes, size_t count);
    // False if anything failed; then nothing is there but what was before.
    bool publish();

  private:
    const std::string path_;
    std::string beside_;
    std::FILE *file_ = nullptr;
    bool failed_ = false;
};

} // namespace eliza
