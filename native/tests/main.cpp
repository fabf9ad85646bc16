#include "check.h"

// Prints TAP, one line a test.
int main() {
    std::printf("1..%zu\n", check::tests().size());
    int number = 0;
    int failed = 0;
    for (const check::Test &test : check::tests()) {
        check::failures = 0;
        test.body();
        failed += check::failures > 0;
        std::printf("%s %d - %s\n", check::failures > 0 ? "not ok" : "ok", ++number, test.name.c_str());
    }
    return failed > 0;
}
