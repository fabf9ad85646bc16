import { createWriteStream } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { diskError, FetchError } from "@eliza-inference/fetch";
import type { Entry, ZipFile } from "yauzl";

/** More than any archive that is fetched here holds. */
const mostFiles = 10_000;

export interface UnpackOptions {
  signal?: AbortSignal | undefined;
  /** Bytes written so far, and how many there will be. */
  onProgress?: ((written: number, total: number) => void) | undefined;
}

export interface UnpackedFile {
  /** relative to the folder, with "/" */
  path: string;
  bytes: number;
}

/**
 * Unpacks a zip archive into a folder, which appears whole or not at all and replaces one that is there. Names that
 * leave the folder are refused; what is written is no longer than the archive's directory says.
 *
 * @throws FetchError ARCHIVE_INVALID, CANCELLED, DISK_FULL, PERMISSION_DENIED, DISK_ERROR
 */
export async function unpackArchive(
  archive: string,
  folder: string,
  options: UnpackOptions = {},
): Promise<UnpackedFile[]> {
  const beside = `${folder}.${process.pid}.unpacking`;
  try {
    await rm(beside, { recursive: true, force: true });
    await mkdir(beside, { recursive: true });
    const files = await unpackInto(archive, beside, options);
    await rm(folder, { recursive: true, force: true });
    await rename(beside, folder);
    return files;
  } catch (error) {
    await rm(beside, { recursive: true, force: true }).catch(() => {});
    throw error instanceof FetchError ? error : diskError(error, folder);
  }
}

async function unpackInto(archive: string, folder: string, options: UnpackOptions): Promise<UnpackedFile[]> {
  const zip = await openZip(archive);
  const files: UnpackedFile[] = [];
  try {
    const entries = await readDirectory(zip, archive);
    const total = entries.reduce((sum, entry) => sum + entry.uncompressedSize, 0);
    let written = 0;
    for (const entry of entries) {
      const path = join(folder, entry.fileName);
      if (entry.fileName.endsWith("/")) {
        await mkdir(path, { recursive: true });
        continue;
      }
      await mkdir(dirname(path), { recursive: true });
      const content = await zip.openReadStreamPromise(entry).catch((error) => {
        throw broken(archive, error);
      });
      content.on("data", (piece: Buffer) => {
        written += piece.length;
        options.onProgress?.(written, total);
      });
      await pipeline(content, createWriteStream(path), { signal: options.signal }).catch((error) => {
        if (options.signal?.aborted) throw cancelled(options.signal);
        // What the disk says has a code, what the archive's reader says has none.
        throw typeof error?.code === "string" && !error.code.startsWith("Z_")
          ? error
          : broken(archive, error);
      });
      files.push({ path: entry.fileName, bytes: entry.uncompressedSize });
    }
  } finally {
    zip.close();
  }
  return files;
}

async function openZip(archive: string): Promise<ZipFile> {
  // Loaded when it is needed: it is CommonJS, which an ES module bundle cannot load at all.
  const { openPromise } = await import("yauzl").then(
    (module) => module.default ?? module,
    (error) => {
      throw new FetchError("SOURCE_UNKNOWN", `the archive reader cannot be loaded: ${error.message}`, {
        hint: "In a bundled program, leave yauzl out of the bundle, or run: eliza-inference runtimes add",
        cause: error,
      });
    },
  );
  try {
    return await openPromise(archive, { lazyEntries: true, autoClose: false });
  } catch (error) {
    throw typeof Reflect.get(Object(error), "code") === "string" ? error : broken(archive, error);
  }
}

async function readDirectory(zip: ZipFile, archive: string): Promise<Entry[]> {
  if (zip.entryCount > mostFiles) throw broken(archive, new Error(`it has ${zip.entryCount} files`));
  const entries: Entry[] = [];
  try {
    for await (const entry of zip.eachEntry()) entries.push(entry);
  } catch (error) {
    throw broken(archive, error);
  }
  return entries;
}

function broken(archive: string, error: unknown): FetchError {
  const why = error instanceof Error ? error.message : String(error);
  return new FetchError("ARCHIVE_INVALID", `${archive} is not the archive expected: ${why}`, {
    hint: "Remove it and run the command again.",
    cause: error,
  });
}

function cancelled(signal: AbortSignal): FetchError {
  return new FetchError("CANCELLED", "the unpacking was cancelled", {
    hint: "Run it again.",
    cause: signal.reason,
  });
}
