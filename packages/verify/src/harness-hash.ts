import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { CASE_FAMILIES } from "./case-families.ts";
import type { DeviceName, KernelEntry } from "./device.ts";
import { ROOT, sha256 } from "./repository.ts";
import { HEADS, ROWS, teamSize } from "./variants.ts";

/** The module that a device is made of. */
const DEVICE_MODULES: Readonly<Record<DeviceName, string>> = {
  cpu: "cpu/cpu-device.ts",
  vulkan: "vulkan/vulkan-device.ts",
  cuda: "cuda/cuda-device.ts",
  metal: "metal/metal-device.ts",
  "emulated-metal": "emulated/emulated-device.ts",
  "emulated-cuda": "emulated/emulated-device.ts",
};
const RUN_MODULE = "run-kernel.ts";

const HERE = dirname(fileURLToPath(import.meta.url));
const PACKAGES = join(HERE, "../..");
/** Workspace packages whose code decides what is compared with what. */
const PACKAGE_MODULES: Readonly<Record<string, string>> = {
  "@eliza-inference/codecs": join(PACKAGES, "codecs/src/index.ts"),
  "@eliza-inference/build/kernels": join(PACKAGES, "build/src/kernels.ts"),
};
const IMPORT = /^(?:import|export)\s+(?!type\b)(?:[^;"]*?\sfrom\s+)?"([^"]+)"/gm;

/** Every module that `path` imports, however far, itself among them. */
function importedModules(path: string, found = new Set<string>()): Set<string> {
  if (found.has(path)) return found;
  found.add(path);
  for (const [, name] of readFileSync(path, "utf8").matchAll(IMPORT)) {
    const target = name!.startsWith(".") ? join(dirname(path), name!) : PACKAGE_MODULES[name!];
    if (target) importedModules(target, found);
  }
  return found;
}

function hashOfFiles(paths: readonly string[]): string {
  const lines = paths.map((path) => {
    const name = relative(PACKAGES, path).split(sep).join("/");
    return `${name} ${sha256(readFileSync(path))}`;
  });
  return sha256(lines.sort().join("\n"));
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(path) : [path];
  });
}

/** Hash of a module of this folder with all that it imports from the workspace. */
function moduleHash(module: string): string {
  const paths = [...importedModules(join(HERE, module))];
  if (module.startsWith("emulated/")) paths.push(...filesBelow(join(HERE, "../emulation")));
  return hashOfFiles(paths);
}

/** Hashes of every module that evidence may name; the packed verifier brings them along as harness.json. */
export function moduleHashes(): Record<string, string> {
  const families = Object.values(CASE_FAMILIES).map(({ module }) => module);
  const modules = [...new Set([RUN_MODULE, ...families, ...Object.values(DEVICE_MODULES)])];
  return Object.fromEntries(modules.map((module) => [module, moduleHash(module)]));
}

let known: Record<string, string> | undefined;

function hashes(): Record<string, string> {
  const packed = join(ROOT, "harness.json");
  known ??= existsSync(packed)
    ? (JSON.parse(readFileSync(packed, "utf8")) as Record<string, string>)
    : moduleHashes();
  return known;
}

/** A kernel's entry as text; functions by their values. */
function factsOf(kernel: KernelEntry): string {
  const shared = ROWS.flatMap((rows) =>
    HEADS.map((heads) => kernel.sharedBytes({ rows, heads, threads: teamSize(rows) * rows })),
  );
  return JSON.stringify({ ...kernel, sharedBytes: shared });
}

/**
 * Hash of all that decides what a kernel's run on a device shows, beside the kernel and the fixtures: its entry, its
 * cases with the reference and the tolerances, the code that runs and judges them, the device, and the codecs.
 */
export function harnessHash(device: DeviceName, kernel: KernelEntry): string {
  const modules = [CASE_FAMILIES[kernel.family].module, RUN_MODULE, DEVICE_MODULES[device]];
  return sha256([factsOf(kernel), ...modules.map((module) => hashes()[module])].join("\n"));
}
