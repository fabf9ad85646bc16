import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { ensureNativeLibrary } from "@eliza-inference/build";
import { resolveModel } from "../../src/models/index.ts";

/** The library that the tests load: ELIZA_INFERENCE_LIBRARY, or the one that is built from these sources. */
export async function libraryUnderTest(): Promise<string> {
  return process.env.ELIZA_INFERENCE_LIBRARY ?? (await ensureNativeLibrary()).library;
}

const pico = fileURLToPath(new URL("../../../../models/pico/pico.gguf", import.meta.url));

/** The model of the repository, which needs no download. */
export function picoModel(): string | undefined {
  return existsSync(pico) ? pico : undefined;
}

/** A known model, if it has been pulled on this machine. */
export async function pulledModel(name: string): Promise<string | undefined> {
  return resolveModel(name).then(
    ({ path }) => path,
    () => undefined,
  );
}

/** Any model to run with: the repository's own, else a pulled one. */
export async function anyModel(): Promise<string> {
  const model = picoModel() ?? (await pulledModel("smollm2-135m"));
  if (!model) throw new Error("models/pico/pico.gguf is missing and smollm2-135m has not been pulled");
  return model;
}
