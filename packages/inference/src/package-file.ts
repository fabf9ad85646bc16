import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { InferenceError } from "./errors.ts";

declare const __filename: string | undefined;

/** Where this code runs, as a URL: a bundle of CommonJS has no import.meta.url. */
export function ownAddress(): string {
  if (import.meta.url !== undefined) return import.meta.url;
  return pathToFileURL(typeof __filename === "string" ? __filename : join(process.cwd(), "program.js")).href;
}

/**
 * The path of a file that comes with this package, looked for when it is needed: beside this module, else in the
 * installed package as it is found from here, for a program that was bundled into one file.
 *
 * @param fromHere its path from src (or dist, after compilation)
 * @throws InferenceError PACKAGE_INCOMPLETE
 */
export function packageFile(fromHere: string): string {
  const here = ownAddress();
  const places = [fileURLToPath(new URL(fromHere, here))];
  try {
    const manifest = createRequire(here).resolve("eliza-inference/package.json");
    places.push(join(dirname(manifest), "dist", fromHere));
  } catch {} // not installed where the program is
  const found = places.find((place) => existsSync(place));
  if (found !== undefined) return found;
  throw new InferenceError(
    "PACKAGE_INCOMPLETE",
    `the file ${fromHere} of eliza-inference was not found${places.map((place) => `\n  ${place}: is not there`).join("")}`,
    "If the program is bundled, leave eliza-inference out of the bundle (esbuild: --external:eliza-inference), or install it beside the bundle.",
  );
}
