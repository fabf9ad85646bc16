#include "runtimes/llama/processors.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

#if defined(__linux__)
#include <sched.h>
#elif defined(_WIN32)
#include <bit>
#include <windows.h>
#endif

namespace eliza {

namespace {

#if defined(__linux__)
int32_t allowed_by_affinity() {
    // The kernel refuses a set that is smaller than its own.
    for (int32_t most = 1024; most <= 1 << 16; most *= 2) {
        cpu_set_t *set = CPU_ALLOC(most);
        if (set == nullptr) return 0;
        const size_t bytes = CPU_ALLOC_SIZE(most);
        const bool known = sched_getaffinity(0, bytes, set) == 0;
        const int32_t count = known ? CPU_COUNT_S(bytes, set) : 0;
        CPU_FREE(set);
        if (known) return count;
    }
    return 0;
}
#elif defined(_WIN32)
int32_t allowed_by_affinity() {
    DWORD_PTR process = 0, system = 0;
    if (!GetProcessAffinityMask(GetCurrentProcess(), &process, &system)) return 0;
    return std::popcount(static_cast<uint64_t>(process));
}
#else
int32_t allowed_by_affinity() { return 0; }
#endif

// "max 100000" or "150000 100000": microseconds in a period. 0 for no limit.
double quota_v2(const std::string &folder) {
    std::ifstream file(folder + "/cpu.max");
    std::string quota;
    double period = 0;
    if (!(file >> quota >> period) || quota == "max" || period <= 0) return 0;
    return std::strtod(quota.c_str(), nullptr) / period;
}

double quota_v1(const std::string &folder) {
    double quota = 0, period = 0;
    std::ifstream(folder + "/cpu.cfs_quota_us") >> quota;
    std::ifstream(folder + "/cpu.cfs_period_us") >> period;
    return quota > 0 && period > 0 ? quota / period : 0;
}

// The least quota of the process's cgroup and of those above it; 0 for none.
double cgroup_quota(const std::string &root) {
    double least = 0;
    const auto take = [&](double quota) {
        if (quota > 0 && (least == 0 || quota < least)) least = quota;
    };
    const auto climb = [&](const std::string &mount, std::string path, double (*read)(const std::string &)) {
        for (;;) {
            take(read(mount + path));
            if (path.empty() || path == "/") return;
            path = path.substr(0, path.find_last_of('/'));
        }
    };
    const std::string mount = root + "sys/fs/cgroup";
    std::ifstream cgroups(root + "proc/self/cgroup");
    std::string line;
    while (std::getline(cgroups, line)) {
        std::istringstream fields(line);
        std::string id, controllers, path;
        if (!std::getline(fields, id, ':') || !std::getline(fields, controllers, ':') || !std::getline(fields, path)) {
            continue;
        }
        if (path.find("..") != std::string::npos) path = "/"; // of a cgroup outside of what is mounted here
        if (controllers.empty()) climb(mount, path, quota_v2);
        if (("," + controllers + ",").find(",cpu,") != std::string::npos) climb(mount + "/cpu", path, quota_v1);
    }
    return least;
}

} // namespace

Processors usable_processors(const std::string &root) {
    const auto machine = static_cast<int32_t>(std::max(1u, std::thread::hardware_concurrency()));
    Processors found{machine, "the machine has " + std::to_string(machine)};
    // On Linux the standard library's count is of the affinity already.
    const int32_t allowed = allowed_by_affinity();
    if (allowed > 0) {
        found.count = allowed;
        found.reason = std::to_string(allowed) + " in the process's affinity";
    }
    const double quota = cgroup_quota(root);
    if (quota > 0 && quota < found.count) {
        found.count = std::max(1, static_cast<int32_t>(quota));
        std::ostringstream text;
        text << "a cgroup's CPU quota of " << quota << " (" << found.reason << ")";
        found.reason = text.str();
    }
    return found;
}

} // namespace eliza
