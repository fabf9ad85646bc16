import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { userFolders } from "@eliza-inference/fetch";
import { readGguf } from "../gguf/index.ts";

/**
 * The sha256 of a model's weights: of every tensor's name, type and shape, and of the tensors' bytes; of all parts of
 * a split model. Metadata such as the chat template does not count. Kept in the user's cache until the file's size or
 * time changes, since it takes about a second a gigabyte.
 *
 * @throws InferenceError as readGguf
 */
export async function weightsHash(modelPath: string): Promise<string> {
  const parts = partsOf(modelPath);
  const stamps = await Promise.all(
    parts.map(async (path) => {
      const { size, mtimeMs } = await stat(path);
      return [path, size, mtimeMs];
    }),
  );
  const key = createHash("sha256").update(JSON.stringify(stamps)).digest("hex");
  const kept = join(userFolders().cache, "weights", key);
  const known = await readFile(kept, "utf8").catch(() => "");
  if (/^[0-9a-f]{64}$/.test(known)) return known;

  const hash = createHash("sha256");
  for (const path of parts) {
    const { tensors, dataOffset } = await readGguf(path);
    hash.update(JSON.stringify(tensors.map(({ name, type, shape }) => [name, type, shape])));
    for await (const piece of createReadStream(path, { start: dataOffset, highWaterMark: 1 << 20 })) {
      hash.update(piece as Buffer);
    }
  }
  const found = hash.digest("hex");
  // Kept for speed alone: where the cache cannot be written it is computed at each use.
  const beside = `${kept}.${process.pid}.new`;
  await mkdir(dirname(kept), { recursive: true })
    .then(() => writeFile(beside, found))
    .then(() => rename(beside, kept))
    .catch(() => rm(beside, { force: true }).catch(() => undefined));
  return found;
}

function partsOf(path: string): string[] {
  const match = /^(.*)-00001-of-(\d{5})\.gguf$/i.exec(path);
  if (!match) return [path];
  return Array.from(
    { length: Number(match[2]) },
    (_, index) => `${match[1]}-${String(index + 1).padStart(5, "0")}-of-${match[2]}.gguf`,
  );
}
