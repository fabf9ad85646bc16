import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { cancelled } from "./errors.ts";

/** The sha256 of a file in lower-case hexadecimal, read in pieces of 1 MiB. */
export async function hashFile(
  path: string,
  signal?: AbortSignal,
  onProgress?: (bytes: number) => void,
): Promise<string> {
  const hash = createHash("sha256");
  const handle = await open(path, "r");
  try {
    const buffer = new Uint8Array(1 << 20);
    for (let at = 0; ; ) {
      if (signal?.aborted) throw cancelled("reading the file", signal.reason);
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, at);
      if (bytesRead === 0) return hash.digest("hex");
      hash.update(buffer.subarray(0, bytesRead));
      at += bytesRead;
      onProgress?.(at);
    }
  } finally {
    await handle.close();
  }
}
