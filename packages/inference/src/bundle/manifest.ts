import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { ValidateFunction } from "ajv";
import { InferenceError } from "../errors.ts";
import { packageFile } from "../package-file.ts";

/** bundle.json, as schema/bundle.schema.json has it. */
export interface BundleManifest {
  $schema?: string;
  version: 1;
  name: string;
  licence?: string;
  files: { path: string; bytes: number; sha256: string }[];
  /** the file among `files` that holds a drafter for speculative decoding */
  drafter?: string;
  /** KV cache types that the library must know */
  minimumKernels?: string[];
}

export const MANIFEST = "bundle.json";
/** The published schema's file. */
export function manifestSchema(): string {
  return packageFile("../schema/bundle.schema.json");
}

let validator: ValidateFunction<BundleManifest> | undefined;

/**
 * A bundle's manifest, checked against the schema; undefined where the bundle has none.
 *
 * @throws InferenceError MODEL_INVALID, which says where it is wrong
 */
export async function readManifest(bundle: string): Promise<BundleManifest | undefined> {
  const path = join(bundle, MANIFEST);
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return undefined;
    throw invalid(path, `it cannot be read (${error.code})`);
  });
  if (text === undefined) return undefined;
  let manifest: unknown;
  try {
    manifest = JSON.parse(text);
  } catch (error) {
    throw invalid(path, `it is no JSON: ${(error as Error).message}`);
  }
  const isManifest = await manifestValidator();
  if (!isManifest(manifest)) {
    const [first] = isManifest.errors ?? [];
    throw invalid(path, `${first?.instancePath || "it"} ${first?.message}`);
  }
  const paths = manifest.files.map((file) => file.path);
  const twice = paths.find((file, at) => paths.indexOf(file) !== at);
  if (twice !== undefined) throw invalid(path, `${twice} is listed twice`);
  const { drafter } = manifest;
  if (drafter !== undefined && !paths.includes(drafter)) {
    throw invalid(path, `the drafter ${drafter} is not among its files`);
  }
  return manifest;
}

/** Sixty modules, which most programs that open a model do without. */
async function manifestValidator(): Promise<ValidateFunction<BundleManifest>> {
  const { Ajv } = await import("ajv");
  validator ??= new Ajv().compile<BundleManifest>(JSON.parse(await readFile(manifestSchema(), "utf8")));
  return validator;
}

function invalid(path: string, reason: string): InferenceError {
  return new InferenceError(
    "MODEL_INVALID",
    `${path}: ${reason}`,
    "See schema/bundle.schema.json, or remake it: eliza-inference bundle create",
  );
}
