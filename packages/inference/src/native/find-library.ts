import { existsSync } from "node:fs";
import { BuildError, findNativeLibrary } from "@eliza-inference/build";
import { InferenceError } from "../errors.ts";

/**
 * The native library's file: as given, else ELIZA_INFERENCE_LIBRARY, else the one that is built for these sources.
 * It is never built here, since that takes minutes. Throws NATIVE_LIBRARY_MISSING, which says how to get it.
 */
export async function findLibrary(given?: string): Promise<string> {
  const named = given ?? process.env.ELIZA_INFERENCE_LIBRARY;
  if (named) {
    if (existsSync(named)) return named;
    throw new InferenceError(
      "NATIVE_LIBRARY_MISSING",
      `${named} does not exist`,
      "Check the path of the library.",
    );
  }
  try {
    const built = await findNativeLibrary();
    if (built) return built.library;
  } catch (cause) {
    if (!(cause instanceof BuildError)) throw cause;
    throw new InferenceError("NATIVE_LIBRARY_MISSING", cause.message, cause.hint, { cause });
  }
  throw new InferenceError(
    "NATIVE_LIBRARY_MISSING",
    "the native library is not built for this version and this machine",
    "Run: npm run build:native",
  );
}
