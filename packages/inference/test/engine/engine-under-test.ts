import { fileURLToPath } from "node:url";
import { ensureNativeLibrary } from "@eliza-inference/build";

/** The library that the tests load: ELIZA_INFERENCE_LIBRARY, or the one that is built from these sources. */
export async function libraryUnderTest(): Promise<string> {
  return process.env.ELIZA_INFERENCE_LIBRARY ?? (await ensureNativeLibrary()).library;
}

/** The model of the repository, which needs no download. */
export const picoModel = fileURLToPath(new URL("../../../../models/pico/pico.gguf", import.meta.url));
