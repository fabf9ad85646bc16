/**
 * C++ that runs a CUDA source's kernels on the CPU.
 * @param include absolute path of the .cu file
 * @param ownThreads the source says how many threads a block of each has
 * @param symbols entry points; the first argument of `emulate` is an index into them
 */
export function cudaAsCxx(include: string, symbols: readonly string[], ownThreads = false): string {
  const works = symbols.map(
    (symbol, index) => `static void work_${index}() { emulation::call(${symbol}, arguments); }`,
  );
  return `#include "cuda_runtime.h" // as nvcc does by itself
#include "${include}"
#include "scheduler.h"
static void **arguments;
extern "C" uint32_t emulated_threads(uint32_t index) {
  static const uint32_t threads[] = {${symbols.map((symbol) => (ownThreads ? `${symbol}_threads` : "0")).join(", ")}};
  return threads[index];
}
${works.join("\n")}
static void (*const works[])() = {${symbols.map((_, index) => `work_${index}`).join(", ")}};
extern "C" int emulate(uint32_t index, void **given, void *, size_t, const uint32_t *, const uint32_t *grid,
                       uint32_t threads, uint32_t width, uint32_t order, char *message, size_t capacity) {
  arguments = given;
  return emulation::run_grid(works[index], grid, threads, width, order, nullptr, 0, message, capacity);
}
`;
}
