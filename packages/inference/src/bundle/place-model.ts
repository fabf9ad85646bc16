import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { findKnownModel, resolveModel } from "../models/index.ts";
import { artifactOf, findArtifacts } from "./artifacts.ts";

/** What a runtime is given to open, and the GGUF file in it, if llama.cpp may be the one. */
export interface ModelPlace {
  path: string;
  gguf: string | undefined;
  /** the bundle's folder, if it is one */
  bundle: string | undefined;
  /** the only runtime that reads this kind of file */
  runtime?: string;
}

/**
 * Finds what a person named: a known model, a model's file or folder, or a bundle. `runtime` is a hard choice; one that
 * is not llama.cpp gets a bundle as it is.
 *
 * @throws InferenceError MODEL_NOT_FOUND, MODEL_INVALID as resolveModel
 */
export async function placeModel(model: string, runtime: string | undefined): Promise<ModelPlace> {
  const path = resolve(model);
  const found = findKnownModel(model) ? undefined : await stat(path).catch(() => undefined);
  const isFolder = found?.isDirectory() ?? false;
  const artifact = found && artifactOf(path, isFolder);
  if (artifact) return { path, gguf: undefined, bundle: undefined, runtime: artifact.runtime };
  if (isFolder) {
    const artifacts = await findArtifacts(path);
    const isForeign = runtime !== undefined && !/^llama\.?cpp$/i.test(runtime);
    const ggufs = artifacts.filter(({ kind }) => kind === "gguf");
    if (isForeign) return { path, gguf: undefined, bundle: path };
    // Several runtimes may serve it: the library chooses.
    if (artifacts.length > ggufs.length && ggufs.length < 2)
      return { path, gguf: ggufs[0]?.path, bundle: path };
  }
  const file = (await resolveModel(model)).path;
  return { path: file, gguf: file, bundle: isFolder ? path : undefined };
}
