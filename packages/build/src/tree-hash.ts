import { createHash } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";

/** All files below `paths` of `root`, as paths with forward slashes, sorted by code unit. */
export async function listFiles(root: string, paths: string[]): Promise<string[]> {
  const found: string[] = [];
  const walk = async (path: string): Promise<void> => {
    if (!(await stat(join(root, path))).isDirectory()) {
      found.push(path);
      return;
    }
    for (const name of await readdir(join(root, path))) await walk(`${path}/${name}`);
  };
  for (const path of paths) await walk(path);
  return found.sort();
}

/**
 * sha256, in hex, over `path NUL sha256-of-content LF` for every file below `paths`, sorted by path.
 * It does not depend on archive format, compression, time stamps or file modes.
 */
export async function hashTree(root: string, paths: string[]): Promise<string> {
  const total = createHash("sha256");
  for (const path of await listFiles(root, paths)) {
    const content = createHash("sha256")
      .update(await readFile(join(root, path)))
      .digest("hex");
    total.update(`${path}\0${content}\n`);
  }
  return total.digest("hex");
}
