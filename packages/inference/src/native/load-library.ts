import { existsSync } from "node:fs";
import { findNativeLibrary } from "@eliza-inference/build/native-library";
import { InferenceError } from "../errors.ts";
import { NativeLibrary } from "./native-library.ts";
import { type Place, packagedLibraries } from "./platform-package.ts";

/**
 * The native library: the one that is named, by `given` or ELIZA_INFERENCE_LIBRARY, and no other then; else that of
 * an installed platform package; else the checkout's build. It is never built here, since that takes minutes.
 * Throws NATIVE_LIBRARY_MISSING, which lists every place with its reason and says what to do, or ABI_MISMATCH.
 */
export async function loadLibrary(given?: string): Promise<NativeLibrary> {
  const named = given ?? process.env.ELIZA_INFERENCE_LIBRARY;
  if (named) {
    const source = given === undefined ? "ELIZA_INFERENCE_LIBRARY names it" : "libraryPath names it";
    if (existsSync(named)) return NativeLibrary.load(named);
    throw new InferenceError(
      "NATIVE_LIBRARY_MISSING",
      `${named} does not exist (${source})`,
      "Name the library's file, or name none to have it looked for.",
    );
  }
  const tries: string[] = ["ELIZA_INFERENCE_LIBRARY: is not set"];
  let checkout = true;
  for (const find of [packagedLibraries, checkoutLibrary]) {
    for (const { from, path, reason } of await find()) {
      if (path === undefined) {
        tries.push(`${from}: ${reason}`);
        continue;
      }
      try {
        return NativeLibrary.load(path);
      } catch (error) {
        if (!(error instanceof InferenceError)) throw error;
        tries.push(`${from}: ${error.message}`);
      }
    }
  }
  throw new InferenceError(
    "NATIVE_LIBRARY_MISSING",
    `no native library was found:\n  ${tries.join("\n  ")}`,
    checkout
      ? "Run: npm run build:native"
      : "Build it in a checkout of eliza-inference (npm run build:native) and name its file in ELIZA_INFERENCE_LIBRARY.",
  );

  async function checkoutLibrary(): Promise<Place[]> {
    const found = await findNativeLibrary();
    const from = "this checkout's build";
    if (found.library) return [{ from, path: found.library.library }];
    checkout = found.isCheckout;
    return [{ from, reason: found.reason }];
  }
}
