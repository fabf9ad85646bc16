import { availableParallelism, cpus, totalmem } from "node:os";
import { findTools } from "@eliza-inference/build";
import { knownModels, processorFeatures, resolveModel } from "eliza-inference";
import { nativeCheck } from "./native-check.ts";
import { bytesText } from "./quantities.ts";

export interface Check {
  name: string;
  /** "missing" is what nothing works without; a "note" can be lived with. */
  state: "ok" | "missing" | "note";
  found: string;
  /** The line that helps. */
  next?: string;
}

/** All that this program needs of a machine, the most basic first. */
export async function runChecks(): Promise<Check[]> {
  return [
    nodeCheck(),
    ...(await toolChecks()),
    await nativeCheck(),
    ...(await modelChecks()),
    memoryCheck(),
    await cpuCheck(),
  ];
}

function nodeCheck(): Check {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const found = `${process.version}, ${process.platform} ${process.arch}`;
  if (major > 20 || (major === 20 && minor >= 10)) return { name: "Node", state: "ok", found };
  return { name: "Node", state: "missing", found, next: "Install Node 20.10 or newer" };
}

async function toolChecks(): Promise<Check[]> {
  const { tools, missing } = await findTools();
  return [
    ...tools.map(
      (tool): Check => ({ name: tool.name, state: "ok", found: `${tool.version} (${tool.command})` }),
    ),
    ...missing.map(
      ({ name, install }): Check => ({ name, state: "missing", found: "not found", next: install }),
    ),
  ];
}

async function modelChecks(): Promise<Check[]> {
  const checks: Check[] = [];
  for (const { name } of knownModels) {
    const path = await resolveModel(name).then(
      (resolved) => resolved.path,
      () => undefined,
    );
    if (path) checks.push({ name: `model ${name}`, state: "ok", found: path });
  }
  if (checks.length > 0) return checks;
  const next = `eliza-inference pull ${knownModels[0]?.name ?? "NAME"}`;
  return [{ name: "models", state: "note", found: "none of the known ones is here", next }];
}

function memoryCheck(): Check {
  const limit = process.constrainedMemory?.() ?? 0;
  const total = totalmem();
  const usable = limit > 0 && limit < total ? limit : total;
  const found = `${bytesText(usable)}${usable < total ? ` of ${bytesText(total)} (limited)` : ""}`;
  const isSmall = usable < 1e9;
  return {
    name: "memory",
    state: isSmall ? "note" : "ok",
    found,
    ...(isSmall ? { next: "Take a small model" } : {}),
  };
}

const interesting = [
  "avx2",
  "fma",
  "f16c",
  "avx512f",
  "avx512_vnni",
  "avx_vnni",
  "amx_int8",
  "asimd",
  "asimddp",
  "i8mm",
  "sve",
];

async function cpuCheck(): Promise<Check> {
  const model = cpus()[0]?.model.trim() || process.arch;
  const found = (await processorFeatures()).filter((feature) => interesting.includes(feature));
  const features = found.length > 0 ? `; ${found.join(", ")}` : "";
  const text = `${model}, ${availableParallelism()} threads${features}`;
  if (process.platform === "linux" && process.arch === "x64" && !found.includes("avx2")) {
    return {
      name: "processor",
      state: "note",
      found: text,
      next: "Without AVX2 the scalar kernels are used: slow",
    };
  }
  return { name: "processor", state: "ok", found: text };
}
