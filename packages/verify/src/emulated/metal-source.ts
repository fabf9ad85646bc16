import { VerifyError } from "../errors.ts";

/** What a Metal kernel's `[[attribute]]` parameters are on the CPU. */
const BUILT_IN: Readonly<Record<string, string>> = {
  thread_index_in_threadgroup: "emulation::current->index",
  thread_index_in_simdgroup: "emulation::current->lane",
  simdgroup_index_in_threadgroup: "emulation::current->subgroup",
  threads_per_simdgroup: "emulation::subgroup_width",
  threadgroup_position_in_grid:
    "uint3{emulation::group_position[0], emulation::group_position[1], emulation::group_position[2]}",
  threadgroups_per_grid:
    "uint3{emulation::group_count[0], emulation::group_count[1], emulation::group_count[2]}",
};

const PARAMETER = /^\s*([\s\S]*?)(\w+)\s*\[\[(\w+)(?:\((\d+)\))?\]\]\s*$/;

function callArguments(signature: string, path: string): string {
  return signature
    .split(/,(?![^[]*\]\])/)
    .map((parameter) => {
      const match = PARAMETER.exec(parameter);
      if (!match) {
        throw new VerifyError(
          "KERNEL_BUILD",
          `${path}: parameter «${parameter.trim()}»`,
          "give it an attribute",
        );
      }
      const type = match[1]!.replace(/\bthreadgroup\b/g, "").trim();
      const attribute = match[3]!;
      if (attribute === "buffer") {
        return type.endsWith("&")
          ? `*(${type.slice(0, -1)} *)buffers[${match[4]}]`
          : `(${type})buffers[${match[4]}]`;
      }
      if (attribute === "threadgroup") return `(${type})dynamic_memory`;
      const value = BUILT_IN[attribute];
      if (!value) {
        throw new VerifyError(
          "KERNEL_BUILD",
          `${path}: the emulation does not know [[${attribute}]]`,
          `it knows ${Object.keys(BUILT_IN).join(", ")}, buffer and threadgroup`,
        );
      }
      return value;
    })
    .join(", ");
}

/**
 * C++ that runs a Metal kernel on the CPU, made from its source with all includes in place.
 * Function constants become variables that the entry point sets, so one build serves every choice of them.
 * @param symbol the kernel's entry point
 */
export function metalAsCxx(source: string, symbol: string, path: string): string {
  const signature = new RegExp(`kernel\\s+void\\s+${symbol}\\s*\\(([\\s\\S]*?)\\)\\s*\\{`).exec(source);
  if (!signature) {
    throw new VerifyError("KERNEL_BUILD", `${path} has no kernel ${symbol}`, "name the entry point so");
  }
  const constants: string[] = [];
  const body = source
    .replace(/^\s*using namespace metal;\s*$/m, "namespace metal {")
    .replace(
      /constant\s+(\w+)\s+(\w+)\s*\[\[function_constant\((\d+)\)\]\];/g,
      (_, type: string, name: string, index: string) => {
        constants.push(`metal::${name} = constants[${index}];`);
        return `static ${type} ${name};`;
      },
    )
    .replace(/^constant (?=[\w ]+\[)/gm, "static const ")
    .replace(/^constant /gm, "constexpr ")
    .replace(/\bthreadgroup\s+([\w:]+)\s+(\w+)\s*(?=\[|;)/g, "EMULATION_THREADGROUP $1 $2")
    .replace(/\bthreadgroup\b/g, "")
    .replace(/\[\[[^\]]*\]\]/g, (attribute) => (/unroll|maybe_unused/.test(attribute) ? attribute : ""));
  return `${body}
} // the nested scope lets metal::fma win over ::fma
static void **buffers;
static void *dynamic_memory;
static void work() { using namespace metal; ${symbol}(${callArguments(signature[1]!, path)}); }
#undef kernel
#undef device
#undef constant
#undef thread
#include "scheduler.h"
extern "C" int emulate(uint32_t, void **arguments, void *shared, size_t shared_bytes, const uint32_t *constants,
                       const uint32_t *grid, uint32_t threads, uint32_t width, uint32_t order, char *message,
                       size_t capacity) {
  buffers = arguments;
  dynamic_memory = shared;
  (void)constants;
  ${constants.join("\n  ")}
  return emulation::run_grid(work, grid, threads, width, order, shared, shared_bytes, message, capacity);
}
`;
}
