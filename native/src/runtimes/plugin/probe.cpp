#include "runtimes/plugin/probe.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#if !defined(_WIN32)
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
#endif

#include "error/failure.h"
#include "runtimes/plugin/plugin-failure.h"
#include "runtimes/plugin/plugin-library.h"
#include "runtimes/plugin/user-folders.h"

namespace eliza {

namespace {

namespace fs = std::filesystem;

#if defined(_WIN32)

void run_probe(const std::string &, const fs::path &, const std::string &, const std::string &) {
    throw Failure(Code::BACKEND_UNAVAILABLE, "files cannot be opened in a process of their own on this system",
                  "use another runtime");
}

#else

std::chrono::milliseconds time_limit() {
    const char *text = std::getenv("ELIZA_PROBE_TIME_LIMIT_MS");
    const long given = text != nullptr ? std::strtol(text, nullptr, 10) : 0;
    return std::chrono::milliseconds(given > 0 ? given : 300'000);
}

struct Child {
    pid_t id = -1;
    int output = -1;
};

Child start(const fs::path &program, const std::string &plugin, const std::string &artifact) {
    int ends[2];
    if (pipe(ends) != 0) throw Failure(Code::BACKEND_UNAVAILABLE, "no pipe can be made", "close other files");
    for (const int end : ends) fcntl(end, F_SETFD, FD_CLOEXEC);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    std::string arguments[] = {program.string(), plugin, artifact};
    char *argv[] = {arguments[0].data(), arguments[1].data(), arguments[2].data(), nullptr};
    Child child;
    const int status = posix_spawn(&child.id, argv[0], &actions, nullptr, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    child.output = ends[0];
    if (status == 0) return child;
    close(ends[0]);
    throw Failure(Code::BACKEND_UNAVAILABLE, program.string() + " does not start: " + std::strerror(status),
                  "it must lie beside the library");
}

// Its standard output, until it closes it or the time is over (false).
bool read_output(int output, std::string *text) {
    const auto until = std::chrono::steady_clock::now() + time_limit();
    for (;;) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
        pollfd ready{output, POLLIN, 0};
        const int count = left > 0 ? poll(&ready, 1, static_cast<int>(left)) : 0;
        if (count == 0) return false;
        char bytes[4096];
        const ssize_t size = read(output, bytes, sizeof(bytes));
        if (size == 0 || (size < 0 && errno != EINTR)) return true;
        if (size > 0 && text->size() < 1 << 16) text->append(bytes, static_cast<size_t>(size));
    }
}

void run_probe(const std::string &runtime, const fs::path &program, const std::string &plugin,
               const std::string &artifact) {
    const Child child = start(program, plugin, artifact);
    std::string output;
    const bool in_time = read_output(child.output, &output);
    close(child.output);
    if (!in_time) kill(child.id, SIGKILL);
    int status = 0;
    while (waitpid(child.id, &status, 0) < 0 && errno == EINTR) {
    }
    const char *hint = "fetch the file again; it was opened in a process of its own, so nothing is lost";
    if (!in_time) throw Failure(Code::MODEL_INVALID, artifact + ": " + runtime + " did not open it in time", hint);
    if (WIFSIGNALED(status)) {
        throw Failure(Code::MODEL_INVALID,
                      artifact + ": " + runtime + " ends with signal " + std::to_string(WTERMSIG(status)) + " on it",
                      hint);
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
    throw_plugin_failure(runtime, output);
}

#endif

// What tells one version of an artifact from another: path, sizes and times of its files.
std::string stamp_of(const fs::path &artifact) {
    std::string stamp;
    const auto add = [&](const fs::path &path) {
        std::error_code code;
        const auto size = fs::file_size(path, code);
        const auto time = fs::last_write_time(path, code).time_since_epoch().count();
        stamp += path.string() + " " + std::to_string(size) + " " + std::to_string(time) + "\n";
    };
    std::error_code code;
    if (!fs::is_directory(artifact, code)) {
        add(fs::absolute(artifact, code));
        return stamp;
    }
    for (fs::recursive_directory_iterator entry(artifact, code), end; !code && entry != end; entry.increment(code)) {
        if (entry->is_regular_file(code)) add(fs::absolute(entry->path(), code));
    }
    return stamp;
}

// FNV-1a, 64 bits; a name, not a proof.
std::string name_of(const std::string &stamp) {
    uint64_t hash = 0xcbf29ce484222325ull;
    for (const char c : stamp) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
    char name[17];
    std::snprintf(name, sizeof(name), "%016llx", static_cast<unsigned long long>(hash));
    return name;
}

bool holds(const fs::path &file, const std::string &text) {
    std::ifstream stream(file, std::ios::binary);
    return stream && std::string(std::istreambuf_iterator<char>(stream), {}) == text;
}

// Beside and renamed; what cannot be written is looked at again the next time.
void remember(const fs::path &file, const std::string &text) {
    std::error_code code;
    fs::create_directories(file.parent_path(), code);
    const fs::path beside =
        file.string() + "." + std::to_string(std::hash<std::thread::id>()(std::this_thread::get_id()));
    std::ofstream(beside, std::ios::binary) << text;
    fs::rename(beside, file, code);
    if (code) fs::remove(beside, code);
}

} // namespace

void probe_artifact(const std::string &runtime, const std::string &version, const std::string &plugin,
                    const std::string &artifact) {
    const std::string stamp = runtime + " " + version + "\n" + stamp_of(plugin) + stamp_of(artifact);
    const fs::path remembered = cache_folder() / "probed" / name_of(stamp);
    if (holds(remembered, stamp)) return;
#if defined(_WIN32)
    const fs::path program = library_folder() / "eliza-plugin-probe.exe";
#else
    const fs::path program = library_folder() / "eliza-plugin-probe";
#endif
    run_probe(runtime, program, plugin, artifact);
    remember(remembered, stamp);
}

} // namespace eliza
