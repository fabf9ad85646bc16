import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import type { DeviceDescription } from "./device.ts";
import { VerifyError } from "./errors.ts";
import { sourcePath } from "./kernel-sources.ts";
import { kernelById } from "./kernels.ts";
import { fixturesHash, planHash, planOf } from "./plan.ts";
import { sha256 } from "./repository.ts";
import { TOOL_VERSION } from "./tool-version.ts";
import type { DeviceReport, KernelVerdict } from "./verify.ts";

const hash = z.string().regex(/^[0-9a-f]{64}$/);
const text = z.string().min(1).max(200);
const count = z.number().int().positive();

const shared = {
  /** What was loaded: where its source is, and the hash of the sources that it says it was made from. */
  source: z.strictObject({ path: text, sha256: hash }),
  tool: z.string().regex(/^\d+\.\d+\.\d+$/),
  date: z.iso.date(),
};

const Run = z.strictObject({
  configuration: text,
  /** Of each case of the plan, in its order, the largest difference; null where the device skipped it. */
  differences: z.array(z.number().nonnegative().nullable()).min(1),
  outputs: z.strictObject({ short: hash, long: hash }),
});

const KernelEvidence = z.strictObject({
  ...shared,
  harness: hash,
  fixtures: hash,
  plan: hash,
  skipped: z.record(text, count),
  runs: z.array(Run).min(1),
  milliseconds: z.number().int().nonnegative(),
});
/** What one kernel showed on one device. Everything it depends on is there by hash. */
export type KernelEvidence = z.infer<typeof KernelEvidence>;

const CompiledEvidence = z.strictObject({ ...shared, configurations: z.array(text).min(1) });
export type CompiledEvidence = z.infer<typeof CompiledEvidence>;

const head = {
  schema: z.literal(2),
  backend: z.enum(["cpu", "vulkan", "cuda", "metal"]),
  device: text,
  driver: text,
  seal: hash,
};
const Evidence = z.discriminatedUnion("kind", [
  z.strictObject({
    ...head,
    kind: z.enum(["hardware", "software", "emulated"]),
    kernels: z.record(text, KernelEvidence),
  }),
  z.strictObject({ ...head, kind: z.literal("compiled"), kernels: z.record(text, CompiledEvidence) }),
]);
/** A file of contract/evidence. Only `verify` writes them; `seal` covers all the rest. */
export type Evidence = z.infer<typeof Evidence>;

/** Hash over a file's content without its seal, keys in order, so that an edit by hand shows. */
export function sealOf(evidence: Omit<Evidence, "seal">): string {
  const { seal: _, ...content } = evidence as Evidence;
  return sha256(`eliza-inference evidence 2\n${canonical(content)}`);
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, entry]) => `${JSON.stringify(key)}:${canonical(entry)}`).join(",")}}`;
}

/** Why a verdict gives no evidence, or undefined. */
function noEvidence({ failures, runs }: KernelVerdict): string | undefined {
  if (failures.length > 0) return `${failures.length} cases failed`;
  if (runs.some(({ result }) => result.sources === undefined)) {
    return "what was loaded does not say what it was made from";
  }
  const sources = new Set(runs.map(({ result, harness }) => `${result.sources} ${harness}`));
  return sources.size === 1 ? undefined : "its configurations were made from different sources";
}

function kernelEvidence(description: DeviceDescription, verdict: KernelVerdict): KernelEvidence {
  const kernel = kernelById(verdict.kernel)!;
  const plan = planOf(kernel, false);
  const { result, harness } = verdict.runs[0]!;
  return {
    source: { path: sourcePath(description.backend, kernel), sha256: result.sources! },
    harness: harness!,
    fixtures: fixturesHash(plan),
    plan: planHash(plan),
    skipped: { ...verdict.skipped },
    runs: verdict.runs.map(({ configuration, result }) => ({
      configuration,
      differences: result.differences.map((value) => value && Number(value.toPrecision(2))),
      outputs: result.outputs,
    })),
    milliseconds: Math.round(verdict.milliseconds),
    ...stamp(),
  };
}

function compiledEvidence(description: DeviceDescription, verdict: KernelVerdict): CompiledEvidence {
  const kernel = kernelById(verdict.kernel)!;
  const configurations = verdict.runs.map(({ configuration }) => configuration);
  const source = {
    path: sourcePath(description.backend, kernel),
    sha256: verdict.runs[0]!.result.sources!,
  };
  return { source, configurations, ...stamp() };
}

function stamp() {
  return { tool: TOOL_VERSION, date: new Date().toISOString().slice(0, 10) };
}

/** A device's file under the evidence folder: its model without versions and punctuation. */
export function evidenceName({
  backend,
  kind,
  device,
}: Pick<Evidence, "backend" | "kind" | "device">): string {
  if (kind === "compiled") return `${backend}/compiled.json`;
  const model =
    kind === "emulated"
      ? `emulated-${/\((\w+)\)$/.exec(device)?.[1]}`
      : device.replace(/\((R|TM)\)/gi, "").replace(/\(.*\)/, "");
  const slug = model
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
  return `${backend}/${slug || "device"}.json`;
}

const NUMBERS = /\[\s+((?:(?:null|[-+.\de]+),?\s+)+)\]/g;

/** JSON with lists of numbers on one line. */
export function evidenceText(evidence: Evidence): string {
  const json = JSON.stringify(evidence, null, 1);
  return `${json.replace(NUMBERS, (_, list: string) => `[${list.trim().replace(/\s+/g, " ")}]`)}\n`;
}

/**
 * Writes what a device showed, keeping what the file says of kernels that were not run this time. A kernel that failed,
 * or was not made from sources that are known, loses what stood there.
 * @param folder for example contract/evidence
 * @returns the path written, and the kernels that gave no evidence with the reason; undefined where nothing ran
 */
export function writeEvidence(
  folder: string,
  report: DeviceReport,
): { path: string; without: { kernel: string; reason: string }[] } | undefined {
  const { description, kernels } = report;
  if (!description || kernels.length === 0) return undefined;
  const { backend, kind, model: device, driver } = description;
  const path = join(folder, evidenceName({ backend, kind, device }));
  const made: Record<string, unknown> = existsSync(path) ? { ...keptKernels(path) } : {};
  const without: { kernel: string; reason: string }[] = [];
  for (const verdict of kernels) {
    const reason = noEvidence(verdict);
    delete made[verdict.kernel];
    if (reason) without.push({ kernel: verdict.kernel, reason });
    else if (kind === "compiled") made[verdict.kernel] = compiledEvidence(description, verdict);
    else made[verdict.kernel] = kernelEvidence(description, verdict);
  }
  const content = { schema: 2, backend, device, kind, driver, kernels: made } as Omit<Evidence, "seal">;
  mkdirSync(dirname(path), { recursive: true });
  const partial = `${path}.${process.pid}`;
  writeFileSync(partial, evidenceText({ ...content, seal: sealOf(content) } as Evidence));
  renameSync(partial, path);
  return { path, without };
}

/** What a file says of kernels; nothing where it is of an older schema. */
function keptKernels(path: string): Evidence["kernels"] {
  try {
    return readEvidence(path).kernels;
  } catch (error) {
    if (error instanceof VerifyError) return {};
    throw error;
  }
}

/**
 * Reads a file of evidence.
 * @throws VerifyError EVIDENCE_INVALID if it is no JSON, not of the schema, or changed since `verify` wrote it
 */
export function readEvidence(path: string): Evidence {
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new VerifyError("EVIDENCE_INVALID", `${path} is no JSON`, "delete it and run verify again", error);
  }
  const parsed = Evidence.safeParse(json);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const place = issue?.path.join(".") || "the whole";
    throw new VerifyError(
      "EVIDENCE_INVALID",
      `${path}: ${place}: ${issue?.message}`,
      "delete it and run verify again",
    );
  }
  if (sealOf(parsed.data) !== parsed.data.seal) {
    throw new VerifyError(
      "EVIDENCE_INVALID",
      `${path} does not match its seal: it was changed after verify wrote it`,
      "run verify again on that device",
    );
  }
  return parsed.data;
}
