import { stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { hashFile } from "@eliza-inference/fetch";
import { InferenceError } from "../errors.ts";
import { type Artifact, findArtifacts, missingParts } from "./artifacts.ts";
import { bundleFiles } from "./bundle-files.ts";
import { type BundleManifest, readManifest } from "./manifest.ts";

export interface CheckBundleOptions {
  /** Reads every file and compares its hash; true by default. Without it sizes alone are compared. */
  hashes?: boolean;
  /** KV cache types that the library knows; with them minimumKernels is checked. */
  knownCacheTypes?: readonly string[];
}

export interface CheckedBundle {
  manifest: BundleManifest | undefined;
  artifacts: Artifact[];
  /** what is wrong, in words; empty: nothing */
  problems: string[];
}

/**
 * Holds a bundle against its bundle.json, or, without one, looks whether there is a model in it.
 *
 * @throws InferenceError MODEL_NOT_FOUND (no such folder), MODEL_INVALID (a bundle.json that is none)
 */
export async function checkBundle(folder: string, options: CheckBundleOptions = {}): Promise<CheckedBundle> {
  const bundle = resolve(folder);
  if (!(await stat(bundle).catch(() => undefined))?.isDirectory()) {
    throw new InferenceError("MODEL_NOT_FOUND", `${bundle} is no folder`, "Give a bundle's folder.");
  }
  const manifest = await readManifest(bundle);
  const artifacts = await findArtifacts(bundle);
  const problems: string[] = [];
  if (artifacts.length === 0) problems.push("text/ holds no model of a known kind");
  for (const { path } of artifacts) {
    for (const missing of await missingParts(path)) problems.push(`text/${missing} is missing`);
  }
  if (manifest) {
    problems.push(...(await comparedFiles(bundle, manifest, options.hashes ?? true)));
    const known = options.knownCacheTypes;
    for (const kernel of known ? (manifest.minimumKernels ?? []) : []) {
      if (!known!.includes(kernel))
        problems.push(`it needs the KV cache type ${kernel}, which the library lacks`);
    }
  }
  return { manifest, artifacts, problems };
}

async function comparedFiles(bundle: string, manifest: BundleManifest, hashes: boolean): Promise<string[]> {
  const problems: string[] = [];
  for (const { path, bytes, sha256 } of manifest.files) {
    const file = join(bundle, path);
    const found = await stat(file).catch(() => undefined);
    if (!found?.isFile()) problems.push(`${path} is missing`);
    else if (found.size !== bytes) problems.push(`${path} has ${found.size} bytes, not ${bytes}`);
    else if (hashes && (await hashFile(file)) !== sha256) problems.push(`${path} has another sha256`);
  }
  const listed = new Set(manifest.files.map(({ path }) => path));
  for (const path of await bundleFiles(bundle)) {
    if (!listed.has(path)) problems.push(`${path} is not listed in bundle.json`);
  }
  return problems;
}
