#include "runtimes/llama/processors.h"

#include <filesystem>
#include <fstream>
#include <random>

#include "check.h"

using eliza::usable_processors;

namespace fs = std::filesystem;

namespace {

struct Root {
    Root()
        : path((fs::temp_directory_path() / ("eliza-root-" + std::to_string(std::random_device{}()))).string() + "/") {}
    ~Root() { fs::remove_all(path); }
    void put(const std::string &file, const std::string &text) const {
        fs::create_directories(fs::path(path + file).parent_path());
        std::ofstream(path + file) << text;
    }
    const std::string path;
};

} // namespace

TEST("a CPU quota bounds the threads, wherever above the process it is set") {
    const int32_t all = usable_processors("/nowhere/").count;
    EXPECT(all >= 1);
    const Root root;
    root.put("proc/self/cgroup", "0::/a/b\n");
    root.put("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    EXPECT(usable_processors(root.path).count == all);
    root.put("sys/fs/cgroup/a/cpu.max", "100000 100000\n");
    EXPECT(usable_processors(root.path).count == 1);
    EXPECT((usable_processors(root.path).reason.find("quota of 1") != std::string::npos) == (all > 1));
    root.put("sys/fs/cgroup/a/b/cpu.max", "50000 100000\n");
    EXPECT(usable_processors(root.path).count == 1);
    root.put("sys/fs/cgroup/a/cpu.max", "900000000 100000\n");
    root.put("sys/fs/cgroup/a/b/cpu.max", "900000000 100000\n");
    EXPECT(usable_processors(root.path).count == all);
}

TEST("so does one of the first kind of cgroups, and one without a folder of its own") {
    const Root root;
    root.put("proc/self/cgroup", "5:cpu,cpuacct:/\n3:memory:/x\n");
    root.put("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "100000\n");
    root.put("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    EXPECT(usable_processors(root.path).count == 1);
    root.put("proc/self/cgroup", "nonsense\n0::/../../elsewhere\n");
    root.put("sys/fs/cgroup/cpu.max", "100000 100000\n");
    EXPECT(usable_processors(root.path).count == 1);
}
