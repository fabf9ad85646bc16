#pragma once

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace check {

struct Test {
    std::string name;
    std::function<void()> body;
};

inline std::vector<Test> &tests() {
    static std::vector<Test> all;
    return all;
}

inline int failures = 0;

struct Register {
    Register(const char *name, std::function<void()> body) { tests().push_back({name, std::move(body)}); }
};

inline void expect(bool holds, const char *text, const char *file, int line) {
    if (holds) return;
    failures += 1;
    std::printf("# %s:%d: %s\n", file, line, text);
}

} // namespace check

#define CHECK_JOIN2(a, b) a##b
#define CHECK_JOIN(a, b) CHECK_JOIN2(a, b)
#define TEST(name)                                                                                                     \
    static void CHECK_JOIN(test_, __LINE__)();                                                                         \
    static const check::Register CHECK_JOIN(register_, __LINE__)(name, CHECK_JOIN(test_, __LINE__));                   \
    static void CHECK_JOIN(test_, __LINE__)()
#define EXPECT(condition) check::expect((condition), #condition, __FILE__, __LINE__)
