import { execFileSync } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));

interface Manifest {
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

export interface Tarball {
  name: string;
  file: string;
  /** paths in the package */
  contents: string[];
}

function npm(args: string[], cwd: string): string {
  const shell = process.platform === "win32";
  return execFileSync("npm", args, { cwd, encoding: "utf8", shell, stdio: ["ignore", "pipe", "pipe"] });
}

/** Packs a folder as npm would publish it. */
export function pack(folder: string, to: string): Tarball {
  const [packed] = JSON.parse(
    npm(["pack", "--json", "--ignore-scripts", "--pack-destination", to], folder),
  ) as {
    name: string;
    filename: string;
    files: { path: string }[];
  }[];
  const contents = packed!.files.map(({ path }) => path);
  return { name: packed!.name, file: join(to, packed!.filename), contents };
}

/** Packs `eliza-inference` and everything that it needs, compiled now. */
export async function packAll(to: string): Promise<Tarball[]> {
  await mkdir(to, { recursive: true });
  npm(["run", "-s", "build:ts"], ROOT);
  const found = new Map<string, Tarball>();
  const add = async (name: string): Promise<void> => {
    const folder = join(ROOT, "node_modules", name);
    const text = await readFile(join(folder, "package.json"), "utf8").catch(() => undefined);
    if (text === undefined || found.has(name)) return; // an optional one for another platform
    found.set(name, pack(folder, to));
    const { dependencies, optionalDependencies } = JSON.parse(text) as Manifest;
    for (const next of Object.keys({ ...dependencies, ...optionalDependencies })) await add(next);
  };
  await add("eliza-inference");
  return [...found.values()];
}

/** Installs tarballs into an empty folder, by an npm with an empty cache that may not use the network. */
export async function install(tarballs: readonly Tarball[], folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const dependencies = Object.fromEntries(tarballs.map(({ name, file }) => [name, `file:${file}`]));
  const manifest = { name: "empty", private: true, type: "module", dependencies };
  await writeFile(join(folder, "package.json"), JSON.stringify(manifest));
  const cache = ["--cache", join(folder, ".npm")];
  npm(["install", "--offline", "--no-audit", "--no-fund", "--ignore-scripts", ...cache], folder);
}
