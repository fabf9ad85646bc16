import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { MANIFEST } from "./manifest.ts";

/** Every file of a bundle but bundle.json and hidden ones, relative, with forward slashes, in the order of names. */
export async function bundleFiles(bundle: string, below = ""): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(join(bundle, below), { withFileTypes: true })) {
    const path = below === "" ? entry.name : `${below}/${entry.name}`;
    if (entry.name.startsWith(".") || path === MANIFEST) continue;
    if (entry.isDirectory()) found.push(...(await bundleFiles(bundle, path)));
    else found.push(path);
  }
  return found.sort();
}
