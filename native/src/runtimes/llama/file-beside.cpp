#include "runtimes/llama/file-beside.h"

#include <filesystem>
#include <random>

#if !defined(_WIN32)
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace eliza {

namespace fs = std::filesystem;

namespace {

const char *const ENDING = ".new";

#if defined(_WIN32)
// Windows does not remove a file that another process has open.
bool is_left_behind(const std::string &) { return true; }
std::FILE *create_locked(const std::string &path) { return std::fopen(path.c_str(), "wbx"); }
#else
bool is_left_behind(const std::string &path) {
    const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (descriptor < 0) return false;
    const bool unlocked = flock(descriptor, LOCK_EX | LOCK_NB) == 0;
    close(descriptor);
    return unlocked;
}

std::FILE *create_locked(const std::string &path) {
    const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0) return nullptr;
    struct stat mine {
    }, there{};
    // Somebody may have swept it before it was locked. Where a file system has no locks, nothing is swept either.
    const bool swept = flock(descriptor, LOCK_EX | LOCK_NB) == 0 && fstat(descriptor, &mine) == 0 &&
                       (stat(path.c_str(), &there) != 0 || there.st_ino != mine.st_ino);
    std::FILE *file = swept ? nullptr : fdopen(descriptor, "wb");
    if (file == nullptr) close(descriptor);
    return file;
}
#endif

void sweep(const fs::path &path) {
    const std::string name = path.filename().string();
    const auto is_beside = [&](const std::string &other) {
        if (!other.starts_with(name + ".") || !other.ends_with(ENDING)) return false;
        const size_t from = name.size() + 1;
        if (other.size() <= from + 4) return false;
        const std::string number = other.substr(from, other.size() - from - 4);
        return number.find_first_not_of("0123456789") == std::string::npos;
    };
    std::error_code code;
    const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
    for (const auto &entry : fs::directory_iterator(folder, code)) {
        std::error_code ignored;
        if (!is_beside(entry.path().filename().string()) || !entry.is_regular_file(ignored)) continue;
        if (is_left_behind(entry.path().string())) fs::remove(entry.path(), ignored);
    }
}

} // namespace

FileBeside::FileBeside(const std::string &path) : path_(path) {
    sweep(path);
    for (int attempt = 0; attempt < 8 && file_ == nullptr; ++attempt) {
        beside_ = path + "." + std::to_string(std::random_device{}()) + ENDING;
        file_ = create_locked(beside_);
    }
    failed_ = file_ == nullptr;
}

FileBeside::~FileBeside() {
    if (file_ == nullptr) return;
    std::fclose(file_);
    std::error_code ignored;
    fs::remove(beside_, ignored);
}

void FileBeside::write(const void *bytes, size_t count) {
    if (!failed_ && std::fwrite(bytes, 1, count, file_) != count) failed_ = true;
}

bool FileBeside::publish() {
    if (failed_ || std::fflush(file_) != 0) return false;
    std::error_code code;
#if defined(_WIN32)
    std::fclose(file_); // an open file cannot be renamed
    file_ = nullptr;
    fs::rename(beside_, path_, code);
    std::error_code ignored;
    if (code) fs::remove(beside_, ignored);
#else
    fs::rename(beside_, path_, code);
    if (!code) {
        std::fclose(file_);
        file_ = nullptr;
    }
#endif
    return !code;
}

} // namespace eliza
