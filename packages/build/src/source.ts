import { execFile } from "node:child_process";
import { createWriteStream, existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { hashFile } from "@eliza-inference/fetch";
import * as tar from "tar";
import { BuildError } from "./errors.ts";
import type { SourcePin } from "./pins.ts";
import { hashTree } from "./tree-hash.ts";

const run = promisify(execFile);

export interface FetchSourceOptions {
  /** the folder that holds fetched trees, one folder each */
  folder: string;
  /** how long an archive server may be silent, in milliseconds */
  timeoutMs?: number;
  onProgress?: (line: string) => void;
}

/** The tree's place below `folder`; it exists only once it has been verified. */
export function sourcePath(pin: SourcePin, folder: string): string {
  return join(folder, `${pin.name}-${pin.version}-${pin.treeSha256.slice(0, 12)}`);
}

/**
 * The pinned tree, from the cache, one of its archives or its mirror inside an npm package, whichever is there first.
 * A tree whose hash is not the pinned one is thrown away.
 * Throws SOURCE_UNAVAILABLE with every source's reason, or SOURCE_MISMATCH if one answered with another tree.
 */
export async function fetchSource(pin: SourcePin, options: FetchSourceOptions): Promise<string> {
  const destination = sourcePath(pin, options.folder);
  if (existsSync(destination)) return destination;
  await mkdir(options.folder, { recursive: true });
  const work = await mkdtemp(join(options.folder, ".fetch-"));
  const reasons: string[] = [];
  let mismatch = false;
  try {
    const sources = [
      ...pin.archives.map((url) => ({
        name: url,
        get: () => fromArchive(url, work, options.timeoutMs ?? 30_000),
      })),
      {
        name: `npm package ${pin.npmMirror.package}@${pin.npmMirror.version}`,
        get: () => fromNpmMirror(pin.npmMirror, work),
      },
    ];
    for (const source of sources) {
      options.onProgress?.(`${pin.name} ${pin.version}: ${source.name}`);
      try {
        const tree = await source.get();
        const kept = join(work, "kept");
        await rm(kept, { recursive: true, force: true });
        for (const path of pin.paths) {
          await mkdir(dirname(join(kept, path)), { recursive: true });
          await cp(join(tree, path), join(kept, path), { recursive: true });
        }
        const found = await hashTree(kept, pin.paths);
        if (found !== pin.treeSha256) {
          mismatch = true;
          throw new Error(`holds tree ${found}, not ${pin.treeSha256}`);
        }
        await rename(kept, destination).catch(async (error: unknown) => {
          if (!existsSync(destination)) throw error; // another process was first
        });
        return destination;
      } catch (error) {
        reasons.push(`${source.name}: ${describe(error)}`);
      }
    }
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  throw new BuildError(
    mismatch ? "SOURCE_MISMATCH" : "SOURCE_UNAVAILABLE",
    `no source gave ${pin.name} ${pin.version}:\n  ${reasons.join("\n  ")}`,
    "check the network, or the npm registry that this machine is set up for",
  );
}

async function fromArchive(url: string, work: string, timeoutMs: number): Promise<string> {
  const response = await fetch(url, { redirect: "follow", signal: AbortSignal.timeout(timeoutMs) });
  if (!response.ok || !response.body) throw new Error(`HTTP ${response.status}`);
  const file = join(work, "archive.tar.gz");
  await pipeline(Readable.fromWeb(response.body), createWriteStream(file));
  const folder = await mkdtemp(join(work, "archive-"));
  await tar.extract({ file, cwd: folder, strip: 1 });
  return folder;
}

async function fromNpmMirror(mirror: SourcePin["npmMirror"], work: string): Promise<string> {
  // npm itself fetches: it knows this machine's registry, proxies and credentials, and checks the package's integrity.
  const npm = process.platform === "win32" ? "npm.cmd" : "npm";
  await run(npm, ["pack", `${mirror.package}@${mirror.version}`, "--silent", "--pack-destination", work], {
    cwd: work,
    shell: process.platform === "win32",
  });
  const name = (await readdir(work)).find((entry) => entry.endsWith(".tgz"));
  if (!name) throw new Error("npm pack wrote no archive");
  const folder = await mkdtemp(join(work, "npm-"));
  await tar.extract({
    file: join(work, name),
    cwd: folder,
    strip: 1,
    filter: (path) => path.endsWith(mirror.bundle),
  });
  const bundle = join(folder, mirror.bundle);
  const found = await hashFile(bundle);
  if (found !== mirror.bundleSha256)
    throw new Error(`${mirror.bundle} has sha256 ${found}, not ${mirror.bundleSha256}`);
  const tree = join(folder, "tree");
  await run("git", ["-c", "advice.detachedHead=false", "clone", "--quiet", bundle, tree]);
  return tree;
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : "";
  return `${error.message.trim()}${cause}`;
}
