import { randomUUID } from "node:crypto";
import { constants, copyFile, link, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { cancelled, diskError, errorCode, FetchError } from "./errors.ts";

const pollMs = 150;
const heartbeatMs = 5_000;
const staleMs = 30_000;

export interface LockOptions {
  signal?: AbortSignal | undefined;
  /** Called once if another process holds the lock. */
  onWait?: (holder: string) => void;
  /** Milliseconds to wait for the other holder; for ever when absent. */
  timeoutMs?: number | undefined;
}

interface Holder {
  pid: number;
  host: string;
  token: string;
}

/**
 * Runs `work` while holding the lock file `path`, alone among all processes that ask for it.
 * A lock whose process has died, or that was not touched for 30 s, is taken over.
 *
 * @throws FetchError CANCELLED, LOCKED (timeout), PERMISSION_DENIED, DISK_FULL, DISK_ERROR.
 */
export async function withFileLock<T>(
  path: string,
  options: LockOptions,
  work: () => Promise<T>,
): Promise<T> {
  const mine: Holder = { pid: process.pid, host: hostname(), token: randomUUID() };
  await acquire(path, mine, options);
  const heartbeat = setInterval(() => {
    const now = new Date();
    utimes(path, now, now).catch(() => {});
  }, heartbeatMs);
  heartbeat.unref();
  try {
    return await work();
  } finally {
    clearInterval(heartbeat);
    if ((await read(path))?.token === mine.token) await rm(path, { force: true }).catch(() => {});
  }
}

async function acquire(path: string, mine: Holder, options: LockOptions): Promise<void> {
  const started = performance.now();
  let told = false;
  for (;;) {
    if (options.signal?.aborted) throw cancelled("waiting for the other download", options.signal.reason);
    if (await create(path, mine)) return;
    const holder = await read(path);
    if (await isStale(path, holder)) {
      await removeStale(path, holder);
      continue;
    }
    const name = holder ? `process ${holder.pid} on ${holder.host}` : "another process";
    if (options.timeoutMs !== undefined && performance.now() - started >= options.timeoutMs) {
      throw new FetchError("LOCKED", `${name} holds ${path}`, {
        hint: "Wait until it is done, or stop it and try again.",
      });
    }
    if (!told) options.onWait?.(name);
    told = true;
    await sleep(pollMs, undefined, options.signal ? { signal: options.signal } : {}).catch(() => {});
  }
}

// A lock appears under its name only when its content is whole: written beside, then linked.
async function create(path: string, mine: Holder): Promise<boolean> {
  const beside = `${path}.${mine.token}`;
  try {
    await writeFile(beside, JSON.stringify(mine), { flag: "w" });
    await linkOrCopy(beside, path);
    return true;
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false;
    throw diskError(error, path);
  } finally {
    await rm(beside, { force: true }).catch(() => {});
  }
}

// Some file systems (exFAT, shares) have no hard links.
async function linkOrCopy(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    if (!["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"].includes(errorCode(error) ?? "")) throw error;
    await copyFile(from, to, constants.COPYFILE_EXCL);
  }
}

async function read(path: string): Promise<Holder | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(path, "utf8"));
    if (typeof value !== "object" || value === null) return undefined;
    const { pid, host, token } = value as Partial<Record<keyof Holder, unknown>>;
    if (typeof pid !== "number" || typeof host !== "string" || typeof token !== "string") return undefined;
    return { pid, host, token };
  } catch {
    return undefined;
  }
}

async function isStale(path: string, holder: Holder | undefined): Promise<boolean> {
  if (holder?.host === hostname() && !isAlive(holder.pid)) return true;
  try {
    return Date.now() - (await stat(path)).mtimeMs > staleMs;
  } catch {
    return false;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === "EPERM";
  }
}

// Two processes may find the same stale lock; only the one that moves that very lock away may remove it.
async function removeStale(path: string, seen: Holder | undefined): Promise<void> {
  const aside = `${path}.${randomUUID()}`;
  try {
    await rename(path, aside);
    const moved = await read(aside);
    if (moved?.token !== seen?.token) await linkOrCopy(aside, path);
  } catch (error) {
    const code = errorCode(error);
    if (code !== "ENOENT" && code !== "EEXIST") throw diskError(error, path);
  } finally {
    await rm(aside, { force: true }).catch(() => {});
  }
}
