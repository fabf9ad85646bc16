import { fork } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { DeviceDescription, DeviceName } from "./device.ts";
import { DEVICE_NAMES } from "./device.ts";
import { backendOf, hasSource } from "./kernel-sources.ts";
import { type Configuration, configurationsOf } from "./open-device.ts";
import { kernelsNamed } from "./plan.ts";
import type { KernelResult } from "./run-kernel.ts";
import type { WorkerMessage, WorkerTask } from "./worker-protocol.ts";

export interface VerifyOptions {
  /** Devices to run on; all of them by default. */
  readonly devices?: readonly DeviceName[];
  /** Kernel ids or their beginnings ("turbo4"); all of them by default. */
  readonly kernels?: readonly string[];
  /** Leave out the cases of thousands of rows. */
  readonly short?: boolean;
  /** Only the cases whose name holds this. */
  readonly only?: string;
  /** Called as results come. */
  readonly onProgress?: (line: string) => void;
}

/** A kernel on a device in one of its configurations. */
export interface ConfigurationResult {
  readonly configuration: string;
  readonly result: KernelResult;
  /** Hash of the harness that ran it; undefined where the process ended before it could say. */
  readonly harness: string | undefined;
}

/** A kernel on a device, over all configurations. */
export interface KernelVerdict {
  readonly kernel: string;
  /** Cases that ran, all configurations together. */
  readonly cases: number;
  /** How many cases the device skipped in each configuration, by reason. */
  readonly skipped: Readonly<Record<string, number>>;
  readonly maxDifference: number;
  readonly maxSeedDifference: number | undefined;
  readonly failures: readonly { readonly name: string; readonly reason: string }[];
  readonly runs: readonly ConfigurationResult[];
  readonly milliseconds: number;
}

export interface DeviceReport {
  readonly device: DeviceName;
  /** Undefined where the device is absent or unfit. */
  readonly description: DeviceDescription | undefined;
  /** Why there is no device, and what to do. */
  readonly unavailable: { readonly message: string; readonly hint: string } | undefined;
  readonly kernels: readonly KernelVerdict[];
  /** Kernels that the device does not have, with the reason. */
  readonly lacking: readonly { readonly kernel: string; readonly reason: string }[];
}

export interface VerifyReport {
  readonly devices: readonly DeviceReport[];
  /** True if every kernel that ran passed, and one did. */
  readonly passed: boolean;
}

const WORKER = ["./verify-worker.ts", "./verify-worker.js"]
  .map((name) => fileURLToPath(new URL(name, import.meta.url)))
  .find((path) => existsSync(path))!;

type Finished = Omit<ConfigurationResult, "configuration">;

interface WorkerOutcome {
  description?: DeviceDescription;
  refused?: { message: string; hint: string };
  results: Finished[];
  lacking: { kernel: string; reason: string }[];
}

function runWorker(task: WorkerTask): Promise<WorkerOutcome> {
  return new Promise((resolve) => {
    const outcome: WorkerOutcome = { results: [], lacking: [] };
    let running: string | undefined;
    let stderr = "";
    const child = fork(WORKER, [JSON.stringify(task)], {
      env: { ...process.env, ...task.configuration.environment },
      execArgv: process.execArgv,
      serialization: "advanced",
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    child.stderr?.on("data", (data: Buffer) => {
      stderr = (stderr + data.toString("utf8")).slice(-4000);
    });
    child.on("message", (message: WorkerMessage) => {
      if (message.kind === "opened") outcome.description = message.description;
      else if (message.kind === "refused") outcome.refused = message;
      else if (message.kind === "started") running = message.kernel;
      else if (message.kind === "lacking") outcome.lacking.push(message);
      else {
        outcome.results.push(message);
        running = undefined;
      }
    });
    child.on("close", (code, signal) => {
      if (running !== undefined) {
        const end = outcome.refused?.message ?? `the process ended with ${signal ?? code}: ${stderr.trim()}`;
        outcome.results.push(crashed(running, end));
      } else if (code !== 0 && !outcome.refused) {
        outcome.refused = { message: `the process ended with ${signal ?? code}`, hint: stderr.trim() };
      }
      resolve(outcome);
    });
  });
}

function crashed(kernel: string, reason: string): Finished {
  const failures = [{ name: "whole run", reason }];
  const result = {
    ...{ kernel, cases: 0, differences: [], skipped: {}, failures, milliseconds: 0 },
    ...{ maxDifference: Number.POSITIVE_INFINITY, maxSeedDifference: undefined },
    ...{ outputs: { short: "", long: "" }, sources: undefined },
  };
  return { result, harness: undefined };
}

/** A kernel's runs in all configurations of a device, as one verdict. */
export function mergeRuns(kernel: string, runs: readonly ConfigurationResult[]): KernelVerdict {
  const results = runs.map(({ result }) => result);
  const seeds = results.map((result) => result.maxSeedDifference).filter((value) => value !== undefined);
  return {
    kernel,
    runs,
    cases: results.reduce((sum, result) => sum + result.cases, 0),
    skipped: results[0]!.skipped,
    maxDifference: Math.max(...results.map((result) => result.maxDifference)),
    maxSeedDifference: seeds.length > 0 ? Math.max(...seeds) : undefined,
    failures: runs.flatMap(({ configuration, result }) =>
      result.failures.map(({ name, reason }) => ({ name: `${configuration}: ${name}`, reason })),
    ),
    milliseconds: results.reduce((sum, result) => sum + result.milliseconds, 0),
  };
}

async function verifyDevice(
  device: DeviceName,
  kernels: readonly string[],
  options: VerifyOptions,
): Promise<DeviceReport> {
  const { short = false, only = "" } = options;
  const probe = await runWorker({ device, configuration: { label: "" }, kernels: [], short, only });
  const { description } = probe;
  if (!description) {
    const unavailable = probe.refused ?? { message: "the device did not open", hint: "" };
    return { device, description, unavailable, kernels: [], lacking: [] };
  }
  const configurations = configurationsOf(description);
  const parts = new Map<string, ConfigurationResult[]>();
  const lacking = new Map<string, string>();
  for (const configuration of configurations) {
    const { label } = configuration;
    options.onProgress?.(`${device}: ${description.model}${label && `, ${label}`}`);
    const outcome = await runEvery(device, configuration, kernels, { short, only });
    for (const finished of outcome.results) {
      const { kernel } = finished.result;
      parts.set(kernel, [...(parts.get(kernel) ?? []), { configuration: label, ...finished }]);
    }
    for (const { kernel, reason } of outcome.lacking) lacking.set(kernel, reason);
  }
  return {
    device,
    description,
    unavailable: undefined,
    kernels: [...parts].map(([kernel, results]) => mergeRuns(kernel, results)),
    lacking: [...lacking].map(([kernel, reason]) => ({ kernel, reason })),
  };
}

/** Runs all kernels; after a crash the rest in a new process. */
async function runEvery(
  device: DeviceName,
  configuration: Configuration,
  kernels: readonly string[],
  cases: Pick<WorkerTask, "short" | "only">,
): Promise<WorkerOutcome> {
  const total: WorkerOutcome = { results: [], lacking: [] };
  let rest = [...kernels];
  while (rest.length > 0) {
    const outcome = await runWorker({ device, configuration, kernels: rest, ...cases });
    total.results.push(...outcome.results);
    total.lacking.push(...outcome.lacking);
    const done = new Set(
      [...outcome.results.map(({ result }) => result), ...outcome.lacking].map(({ kernel }) => kernel),
    );
    const left = rest.filter((kernel) => !done.has(kernel));
    if (left.length === rest.length) {
      const reason = outcome.refused?.message ?? "the device gave no result";
      total.results.push(...left.map((kernel) => crashed(kernel, reason)));
      break;
    }
    rest = left;
  }
  return total;
}

/** Holds kernels against the codecs on every device asked for. Needs no privileges and writes nothing. */
export async function verify(options: VerifyOptions = {}): Promise<VerifyReport> {
  const asked = kernelsNamed(options.kernels);
  const devices: DeviceReport[] = [];
  for (const device of options.devices ?? DEVICE_NAMES) {
    const kernels = asked.filter((kernel) => hasSource(backendOf(device), kernel)).map(({ id }) => id);
    devices.push(await verifyDevice(device, kernels, options));
  }
  const verdicts = devices.flatMap((report) => report.kernels);
  return { devices, passed: verdicts.length > 0 && verdicts.every(({ failures }) => failures.length === 0) };
}
