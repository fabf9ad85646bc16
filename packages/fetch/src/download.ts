import { mkdir, stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { cancelled, diskError, FetchError } from "./errors.ts";
import { withFileLock } from "./file-lock.ts";
import { hashFile } from "./hash-file.ts";
import { backOff, backOffMs, type OpenedUrl, openUrl } from "./open-url.ts";
import { PartialFile } from "./partial-file.ts";

export interface DownloadProgress {
  /** "checking" reads bytes that are already on disk; "downloading" receives new ones. */
  phase: "checking" | "downloading";
  url: string;
  receivedBytes: number;
  /** Undefined until the server or the caller has named the size. */
  totalBytes: number | undefined;
  /** How many of `receivedBytes` an earlier run left. */
  resumedBytes: number;
}

export interface DownloadOptions {
  /** Tried in order; the reason of each that fails is kept. */
  urls: readonly string[];
  /** The finished file. Beside it, while it is made: `.partial`, `.partial.json`, `.lock`. */
  destination: string;
  /** 64 hexadecimal digits; the file takes its name only after this was verified. */
  sha256: string;
  /** The size in bytes, when it is known. */
  bytes?: number | undefined;
  /** At most ten calls a second, and one at the end. */
  onProgress?: ((progress: DownloadProgress) => void) | undefined;
  onRetry?: ((reason: FetchError, delayMs: number) => void) | undefined;
  /** Called once when another process is already fetching this file. */
  onWait?: ((holder: string) => void) | undefined;
  signal?: AbortSignal | undefined;
  headers?: Readonly<Record<string, string>>;
  /** Tries for one address without progress between them; 4 by default. */
  attempts?: number;
  /** 30,000 by default. */
  idleTimeoutMs?: number;
}

export interface DownloadResult {
  path: string;
  bytes: number;
  sha256: string;
  /** The address that served it; undefined when the file was already there. */
  url: string | undefined;
  alreadyThere: boolean;
}

const enoughToStartCountingAnew = 64 * 1024;
const stopsEverything = new Set(["CANCELLED", "DISK_FULL", "PERMISSION_DENIED", "DISK_ERROR"]);

/**
 * Fetches a file whose sha256 is known. A cut, cancelled or crashed run leaves a `.partial` that the next one
 * goes on with (Range, and If-Range where the server gave a strong entity tag); servers without ranges are
 * read from the start. Two processes that want the same file take turns.
 *
 * @throws FetchError; with several addresses ALL_SOURCES_FAILED, whose `reasons` are one error an address.
 */
export async function download(options: DownloadOptions): Promise<DownloadResult> {
  const sha256 = options.sha256.toLowerCase();
  if (!/^[0-9a-f]{64}$/.test(sha256)) {
    throw new FetchError("INVALID_ARGUMENT", `"${options.sha256}" is not a sha256`, {
      hint: "Give 64 hexadecimal digits.",
    });
  }
  if (options.urls.length === 0) {
    throw new FetchError("INVALID_ARGUMENT", "no address was given", { hint: "Give at least one in urls." });
  }
  if (options.signal?.aborted) throw cancelled("the download", options.signal.reason);
  const { destination } = options;
  try {
    await mkdir(dirname(destination), { recursive: true });
  } catch (error) {
    throw diskError(error, dirname(destination));
  }
  return await withFileLock(
    `${destination}.lock`,
    { signal: options.signal, ...(options.onWait ? { onWait: options.onWait } : {}) },
    async () => {
      const there = await existing(destination, sha256, options);
      if (there !== undefined) {
        return { path: destination, bytes: there, sha256, url: undefined, alreadyThere: true };
      }
      const reasons: FetchError[] = [];
      for (const url of options.urls) {
        try {
          const bytes = await fetchFrom(url, sha256, options);
          return { path: destination, bytes, sha256, url, alreadyThere: false };
        } catch (error) {
          const reason = diskError(error, destination);
          if (stopsEverything.has(reason.code)) throw reason;
          reasons.push(reason);
        }
      }
      throw allFailed(destination, reasons);
    },
  );
}

/** One error for several sources, with each one's reason on a line of its own. */
export function allFailed(what: string, reasons: readonly FetchError[]): FetchError {
  const [only] = reasons;
  if (only && reasons.length === 1) return only;
  const lines = reasons.map((reason) => `\n  ${reason.code}: ${reason.message}`).join("");
  return new FetchError("ALL_SOURCES_FAILED", `no source gave ${what}:${lines}`, {
    hint: only?.hint ?? "Give another source.",
    cause: only,
    reasons,
  });
}

async function existing(
  destination: string,
  sha256: string,
  options: DownloadOptions,
): Promise<number | undefined> {
  let size: number;
  try {
    size = (await stat(destination)).size;
  } catch {
    return undefined;
  }
  if (options.bytes !== undefined && options.bytes !== size) return undefined;
  const report = progressReporter(options, options.urls[0] ?? "");
  try {
    const found = await hashFile(destination, options.signal, (bytes) => report("checking", bytes, size, 0));
    return found === sha256 ? size : undefined;
  } catch (error) {
    throw diskError(error, destination);
  }
}

async function fetchFrom(url: string, sha256: string, options: DownloadOptions): Promise<number> {
  const report = progressReporter(options, url);
  const partial = await PartialFile.open(options.destination, sha256, options.signal, (bytes) =>
    report("checking", bytes, options.bytes, 0),
  );
  let resumed = partial.length;
  const attempts = options.attempts ?? 4;
  let done = false;
  try {
    for (let attempt = 1; ; attempt++) {
      const before = partial.length;
      try {
        await transfer(url, partial, options, (total) =>
          report("downloading", partial.length, total, Math.min(resumed, partial.length)),
        );
        const found = partial.digest();
        if (found === sha256) break;
        const held = partial.length;
        await partial.restart();
        // Bytes that an earlier run left may be to blame, so a resumed file gets one clean try.
        if (resumed > 0) {
          resumed = 0;
          attempt = 0;
          continue;
        }
        throw new FetchError("HASH_MISMATCH", `${url}: sha256 of ${held} bytes is ${found}, not ${sha256}`, {
          hint: "The source serves another file, or something on the way changes it: use another source.",
        });
      } catch (error) {
        const reason = diskError(error, partial.path);
        if (!reason.transient) throw reason;
        if (partial.length - before >= enoughToStartCountingAnew) attempt = 1;
        if (attempt >= attempts) throw reason;
        options.onRetry?.(reason, reason.retryAfterMs ?? backOffMs(attempt));
        await backOff(attempt, reason, options.signal);
      }
    }
    const bytes = partial.length;
    await partial.commit();
    done = true;
    report("downloading", bytes, bytes, resumed, true);
    return bytes;
  } catch (error) {
    const wrong = error instanceof FetchError && /^(HASH|SIZE)_MISMATCH$/.test(error.code);
    if (wrong || partial.length === 0) await partial.discard();
    throw error;
  } finally {
    if (!done) await partial.close();
  }
}

/** Receives what `partial` lacks. Returns when the file is whole by all that is known of its size. */
async function transfer(
  url: string,
  partial: PartialFile,
  options: DownloadOptions,
  report: (total: number | undefined) => void,
): Promise<void> {
  const { bytes } = options;
  if (bytes !== undefined && partial.length > bytes) await partial.restart();
  if (bytes !== undefined && partial.length === bytes && bytes > 0) return;
  const etag = partial.strongEtag(url);
  const headers: Record<string, string> = { ...options.headers };
  if (partial.length > 0) headers.range = `bytes=${partial.length}-`;
  if (partial.length > 0 && etag) headers["if-range"] = etag;
  const opened = await openUrl(url, {
    headers,
    signal: options.signal,
    idleTimeoutMs: options.idleTimeoutMs,
  });
  try {
    const expected = await agree(url, partial, opened, bytes);
    if (expected === "already whole") return;
    if (expected === "start over") return await transfer(url, partial, options, report);
    await partial.remember(url, opened.headers.get("etag"));
    await requireSpace(partial, expected);
    report(expected);
    for await (const piece of opened.body()) {
      if (expected !== undefined && partial.length + piece.length > expected) {
        throw new FetchError("SIZE_MISMATCH", `${url} sends more than the ${expected} bytes expected`, {
          hint: "The source serves another file: use another source.",
        });
      }
      await partial.append(piece);
      report(expected);
    }
    if (expected !== undefined && partial.length < expected) {
      throw new FetchError("TRUNCATED", `${url} ended after ${partial.length} of ${expected} bytes`, {
        hint: "Try again: the download goes on where it stopped.",
        transient: true,
      });
    }
  } finally {
    await opened.cancel();
  }
}

/** Brings `partial` in line with what the server is about to send; returns the size of the whole file. */
async function agree(
  url: string,
  partial: PartialFile,
  opened: OpenedUrl,
  bytes: number | undefined,
): Promise<number | undefined | "already whole" | "start over"> {
  const range = /^bytes (?:(\d+)-\d+|\*)\/(\d+|\*)$/.exec(opened.headers.get("content-range") ?? "");
  const total = range?.[2] === undefined || range[2] === "*" ? undefined : Number(range[2]);
  if (opened.status === 416) {
    if (partial.length > 0 && total === partial.length) return "already whole";
    if (partial.length === 0) {
      throw new FetchError("HTTP_STATUS", `${url} answered 416 to a whole request`, {
        hint: "The source is broken: use another one.",
      });
    }
    await partial.restart();
    return "start over";
  }
  if (opened.status === 206 && partial.length > 0) {
    const encoded = opened.headers.get("content-encoding");
    const fits = range?.[1] !== undefined && Number(range[1]) === partial.length;
    if (!fits || (encoded !== null && encoded !== "identity")) {
      await partial.restart();
      return "start over";
    }
    requireSize(url, total, bytes);
    return bytes ?? total;
  }
  if (partial.length > 0) await partial.restart();
  const encoded = opened.headers.get("content-encoding");
  const length = opened.headers.get("content-length");
  const plain = encoded === null || encoded === "identity";
  const declared = plain && length !== null && /^\d+$/.test(length) ? Number(length) : undefined;
  requireSize(url, declared, bytes);
  return bytes ?? declared;
}

function requireSize(url: string, found: number | undefined, expected: number | undefined): void {
  if (found === undefined || expected === undefined || found === expected) return;
  throw new FetchError("SIZE_MISMATCH", `${url} is ${found} bytes, not ${expected}`, {
    hint: "The source serves another file: use another source.",
  });
}

async function requireSpace(partial: PartialFile, total: number | undefined): Promise<void> {
  if (total === undefined) return;
  const missing = total - partial.length;
  let free: number;
  try {
    const disk = await statfs(dirname(partial.path));
    free = disk.bavail * disk.bsize;
  } catch {
    return;
  }
  if (free >= missing) return;
  throw new FetchError("DISK_FULL", `${partial.path} needs ${missing} more bytes, and ${free} are free`, {
    hint: "Free some space, or name another folder in ELIZA_INFERENCE_CACHE.",
  });
}

function progressReporter(options: DownloadOptions, url: string) {
  let last = Number.NEGATIVE_INFINITY;
  return (
    phase: DownloadProgress["phase"],
    receivedBytes: number,
    totalBytes: number | undefined,
    resumedBytes: number,
    final = false,
  ): void => {
    const now = performance.now();
    if (!final && now - last < 100) return;
    last = now;
    options.onProgress?.({ phase, url, receivedBytes, totalBytes, resumedBytes });
  };
}
