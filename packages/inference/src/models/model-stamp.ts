import { readFile, rename, stat, writeFile } from "node:fs/promises";

export interface ModelStamp {
  sha256: string;
  bytes: number;
  modifiedMs: number;
  /** The address the bytes came from, or "local file". */
  source: string;
  licence: string;
}

/** What was found out about `path` when it was verified; undefined once its size or time has changed. */
export async function readStamp(path: string): Promise<ModelStamp | undefined> {
  try {
    const { size, mtimeMs } = await stat(path);
    const value: unknown = JSON.parse(await readFile(`${path}.json`, "utf8"));
    if (typeof value !== "object" || value === null) return undefined;
    const { sha256, bytes, modifiedMs, source, licence } = value as Partial<
      Record<keyof ModelStamp, unknown>
    >;
    if (bytes !== size || modifiedMs !== mtimeMs || typeof sha256 !== "string") return undefined;
    if (typeof source !== "string" || typeof licence !== "string") return undefined;
    return { sha256, bytes, modifiedMs, source, licence };
  } catch {
    return undefined;
  }
}

export async function writeStamp(
  path: string,
  facts: Omit<ModelStamp, "bytes" | "modifiedMs">,
): Promise<void> {
  const { size, mtimeMs } = await stat(path);
  const stamp: ModelStamp = { ...facts, bytes: size, modifiedMs: mtimeMs };
  await writeFile(`${path}.json.new`, `${JSON.stringify(stamp, null, 2)}\n`);
  await rename(`${path}.json.new`, `${path}.json`);
}
