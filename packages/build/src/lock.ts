import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { BuildError } from "./errors.ts";

/**
 * Runs `work` while holding a lock folder, so that two processes never build into the same place.
 * A lock whose process has died is taken over. Throws BUILD_BUSY after `waitMs`.
 */
export async function withLock<T>(folder: string, waitMs: number, work: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + waitMs;
  for (;;) {
    try {
      await mkdir(folder);
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      if (await ownerIsGone(folder)) {
        await rm(folder, { recursive: true, force: true });
        continue;
      }
      if (Date.now() > deadline) {
        throw new BuildError(
          "BUILD_BUSY",
          `another process holds ${folder}`,
          "wait for it, or remove that folder",
        );
      }
      await sleep(500);
    }
  }
  try {
    await writeFile(join(folder, "pid"), String(process.pid));
    return await work();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function ownerIsGone(folder: string): Promise<boolean> {
  const text = await readFile(join(folder, "pid"), "utf8").catch(() => "");
  const pid = Number.parseInt(text, 10);
  if (!Number.isFinite(pid)) {
    await sleep(1000); // its owner may just be writing
    return !Number.isFinite(Number.parseInt(await readFile(join(folder, "pid"), "utf8").catch(() => ""), 10));
  }
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}
