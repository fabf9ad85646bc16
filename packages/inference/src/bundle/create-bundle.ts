import { rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { hashFile } from "@eliza-inference/fetch";
import { InferenceError } from "../errors.ts";
import { findArtifacts, missingParts } from "./artifacts.ts";
import { bundleFiles } from "./bundle-files.ts";
import { type BundleManifest, MANIFEST } from "./manifest.ts";

export interface CreateBundleOptions {
  /** For people; the folder's name by default. */
  name?: string;
  licence?: string;
  /** the file of the bundle that holds a drafter, relative to it */
  drafter?: string;
  /** KV cache types that a library must know to open it */
  minimumKernels?: string[];
}

/**
 * Writes bundle.json for a folder whose text/ holds a model: every file with its size and hash. One that is there is
 * replaced whole.
 *
 * @throws InferenceError MODEL_NOT_FOUND (no folder, no model in it), MODEL_INVALID (a split model that is not whole),
 *   INVALID_ARGUMENT (a drafter that is not there)
 */
export async function createBundle(
  folder: string,
  options: CreateBundleOptions = {},
): Promise<BundleManifest> {
  const bundle = resolve(folder);
  const artifacts = await findArtifacts(bundle);
  if (artifacts.length === 0) {
    throw new InferenceError(
      "MODEL_NOT_FOUND",
      `${bundle} has no model in text/`,
      "Put a .gguf, .litertlm, .mlpackage, .mlmodelc or a folder of MLX weights there.",
    );
  }
  for (const { path } of artifacts) {
    const missing = await missingParts(path);
    if (missing.length === 0) continue;
    throw new InferenceError("MODEL_INVALID", `text/ lacks ${missing.join(", ")}`, "Put every part there.");
  }
  const paths = await bundleFiles(bundle);
  const { drafter } = options;
  if (drafter !== undefined && !paths.includes(drafter)) {
    throw new InferenceError(
      "INVALID_ARGUMENT",
      `the drafter ${drafter} is no file of ${bundle}`,
      "Give its path inside the bundle.",
    );
  }
  const files: BundleManifest["files"] = [];
  for (const path of paths) {
    const file = join(bundle, path);
    files.push({ path, bytes: (await stat(file)).size, sha256: await hashFile(file) });
  }
  const { name = basename(bundle), licence, minimumKernels } = options;
  const manifest: BundleManifest = {
    version: 1,
    name,
    ...(licence === undefined ? {} : { licence }),
    files,
    ...(drafter === undefined ? {} : { drafter }),
    ...(minimumKernels === undefined ? {} : { minimumKernels }),
  };
  const place = join(bundle, MANIFEST);
  const beside = `${place}.${process.pid}.partial`;
  try {
    await writeFile(beside, `${JSON.stringify(manifest, null, 2)}\n`);
    await rename(beside, place);
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
  return manifest;
}
