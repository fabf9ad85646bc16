import { createHash } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";

/** All files below `paths` of `root`, as paths with forward slashes, sorted by code unit. */
export async function listFiles(root: string, paths: string[]): Promise<string[]> {
  const found: string[] = [];
  const walk = async (folder: string): Promise<void> => {
    for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
      const path = `${folder}/${entry.name}`;
      const isFolder = entry.isSymbolicLink()
        ? (await stat(join(root, path))).isDirectory()
        : entry.isDirectory();
      if (isFolder) await walk(path);
      else found.push(path);
    }
  };
  for (const path of paths) {
    if ((await stat(join(root, path))).isDirectory()) await walk(path);
    else found.push(path);
  }
  return found.sort();
}

/**
 * sha256, in hex, over `path NUL sha256-of-content LF` for every file below `paths`, sorted by path.
 * It does not depend on archive format, compression, time stamps or file modes.
 */
export async function hashTree(root: string, paths: string[]): Promise<string> {
  const files = await listFiles(root, paths);
  const total = createHash("sha256");
  const AT_ONCE = 32;
  for (let i = 0; i < files.length; i += AT_ONCE) {
    const some = files.slice(i, i + AT_ONCE);
    const contents = await Promise.all(some.map((path) => readFile(join(root, path))));
    some.forEach((path, j) => {
      total.update(`${path}\0${createHash("sha256").update(contents[j]!).digest("hex")}\n`);
    });
  }
  return total.digest("hex");
}
