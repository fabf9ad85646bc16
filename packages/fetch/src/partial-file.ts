import { createHash, type Hash } from "node:crypto";
import { type FileHandle, open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { cancelled, diskError, errorCode, FetchError } from "./errors.ts";

/** What is remembered beside a partial file: which file it is a part of, and which version of it. */
interface PartialStamp {
  sha256: string;
  url?: string;
  etag?: string;
}

/**
 * The `.partial` file of a download: grows at its end, knows the sha256 of what it holds, and becomes the
 * target by a rename. Everything it throws is a FetchError.
 */
export class PartialFile {
  readonly path: string;
  readonly destination: string;
  readonly sha256: string;
  #handle: FileHandle;
  #hash: Hash = createHash("sha256");
  #length = 0;
  #stamp: PartialStamp;

  private constructor(destination: string, sha256: string, handle: FileHandle) {
    this.destination = destination;
    this.path = `${destination}.partial`;
    this.sha256 = sha256;
    this.#handle = handle;
    this.#stamp = { sha256 };
  }

  /** Opens or creates the partial of `destination`; what an earlier run left is read and hashed. */
  static async open(
    destination: string,
    sha256: string,
    signal?: AbortSignal,
    onProgress?: (bytes: number) => void,
  ): Promise<PartialFile> {
    const path = `${destination}.partial`;
    try {
      const file = new PartialFile(destination, sha256, await openForUpdate(path));
      try {
        const stamp = await readStamp(`${path}.json`);
        if (stamp && stamp.sha256 !== sha256) await file.restart();
        else if (stamp) file.#stamp = stamp;
        await file.#hashExisting(signal, onProgress);
        return file;
      } catch (error) {
        await file.#handle.close();
        throw error;
      }
    } catch (error) {
      throw diskError(error, path);
    }
  }

  get length(): number {
    return this.#length;
  }

  /** The entity tag that `url` gave for the bytes held here, if it is one that If-Range may use. */
  strongEtag(url: string): string | undefined {
    const { etag } = this.#stamp;
    return this.#stamp.url === url && etag?.startsWith('"') ? etag : undefined;
  }

  async remember(url: string, etag: string | null): Promise<void> {
    this.#stamp = { sha256: this.sha256, url, ...(etag === null ? {} : { etag }) };
    try {
      await writeFile(`${this.path}.json.new`, JSON.stringify(this.#stamp));
      await rename(`${this.path}.json.new`, `${this.path}.json`);
    } catch (error) {
      throw diskError(error, this.path);
    }
  }

  async append(bytes: Uint8Array): Promise<void> {
    try {
      for (let from = 0; from < bytes.length; ) {
        const { bytesWritten } = await this.#handle.write(bytes, from, bytes.length - from, this.#length);
        this.#hash.update(bytes.subarray(from, from + bytesWritten));
        from += bytesWritten;
        this.#length += bytesWritten;
      }
    } catch (error) {
      throw diskError(error, this.path);
    }
  }

  /** Drops what is held. */
  async restart(): Promise<void> {
    try {
      await this.#handle.truncate(0);
    } catch (error) {
      throw diskError(error, this.path);
    }
    this.#length = 0;
    this.#hash = createHash("sha256");
    this.#stamp = { sha256: this.sha256 };
  }

  /** The sha256 of what is held, in lower-case hexadecimal. */
  digest(): string {
    return this.#hash.copy().digest("hex");
  }

  /** Closes the file and keeps it for the next run. */
  async close(): Promise<void> {
    await this.#handle.close().catch(() => {});
  }

  /** Closes the file and moves it to its destination in one step. */
  async commit(): Promise<void> {
    try {
      await this.#handle.sync();
      await this.#handle.close();
      await rename(this.path, this.destination);
      await rm(`${this.path}.json`, { force: true });
    } catch (error) {
      throw diskError(error, this.destination);
    }
  }

  /** Closes and deletes the file. */
  async discard(): Promise<void> {
    await this.close();
    await rm(this.path, { force: true }).catch(() => {});
    await rm(`${this.path}.json`, { force: true }).catch(() => {});
  }

  async #hashExisting(signal?: AbortSignal, onProgress?: (bytes: number) => void): Promise<void> {
    const buffer = new Uint8Array(1 << 20);
    for (;;) {
      if (signal?.aborted) throw cancelled("the download", signal.reason);
      const { bytesRead } = await this.#handle.read(buffer, 0, buffer.length, this.#length);
      if (bytesRead === 0) return;
      this.#hash.update(buffer.subarray(0, bytesRead));
      this.#length += bytesRead;
      onProgress?.(this.#length);
    }
  }
}

async function openForUpdate(path: string): Promise<FileHandle> {
  let handle: FileHandle;
  try {
    handle = await open(path, "r+");
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
    handle = await open(path, "w+");
  }
  if ((await handle.stat()).isFile()) return handle;
  await handle.close();
  throw new FetchError("DISK_ERROR", `${path} is no plain file`, { hint: "Remove it and run it again." });
}

async function readStamp(path: string): Promise<PartialStamp | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(path, "utf8"));
    if (typeof value !== "object" || value === null) return undefined;
    const { sha256, url, etag } = value as Partial<Record<keyof PartialStamp, unknown>>;
    if (typeof sha256 !== "string") return undefined;
    return {
      sha256,
      ...(typeof url === "string" ? { url } : {}),
      ...(typeof etag === "string" ? { etag } : {}),
    };
  } catch {
    return undefined;
  }
}
