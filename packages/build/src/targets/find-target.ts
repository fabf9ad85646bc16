import { closeSync, openSync, readSync } from "node:fs";
import { BuildError } from "../errors.ts";
import type { Target } from "./target.ts";
import { TARGETS } from "./targets.ts";

/**
 * Our name of a target, from ours or from elizaOS's: there `aarch64` is arm64 and `x86_64` is x64, a target
 * without a variant is the CPU's, and `-fused` marks builds that hold the C ABI, which ours always do.
 */
export function targetId(name: string): string {
  const id = name
    .replace(/-fused$/, "")
    .replace("-aarch64", "-arm64")
    .replace("-x86_64", "-x64");
  return /-(cpu|vulkan|cuda|metal)$/.test(id) ? id : `${id}-cpu`;
}

/** The row of a target under any of its names. Throws TARGET_UNKNOWN, which lists the targets. */
export function findTarget(name: string): Target {
  const target = TARGETS.find(({ id }) => id === targetId(name));
  if (target) return target;
  throw new BuildError(
    "TARGET_UNKNOWN",
    `there is no target ${JSON.stringify(name)}`,
    `the targets are ${TARGETS.map(({ id }) => id).join(", ")}`,
  );
}

/** The C library of the running process, on Linux alone: the loader that its program names in its first page. */
export function hostLibc(): "glibc" | "musl" | undefined {
  if (process.platform !== "linux") return undefined;
  const page = Buffer.alloc(4096);
  try {
    const program = openSync("/proc/self/exe", "r");
    try {
      readSync(program, page, 0, page.length, 0);
    } finally {
      closeSync(program);
    }
  } catch {} // no /proc: glibc is the likelier one
  return page.includes("/ld-musl-") ? "musl" : "glibc";
}

export interface Machine {
  platform: string;
  cpu: string;
  libc: "glibc" | "musl" | undefined;
}

/** The targets whose libraries a process on the machine can load; none where it has no row. */
export function hostTargets(
  machine: Machine = { platform: process.platform, cpu: process.arch, libc: hostLibc() },
): readonly Target[] {
  return TARGETS.filter(
    ({ platform, cpu, libc }) =>
      platform === machine.platform && cpu === machine.cpu && libc === machine.libc,
  );
}
