import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { hostTargets, type Target } from "@eliza-inference/build/targets";
import { ownAddress } from "../package-file.ts";
import { processorFeatures } from "./processor-features.ts";

/** One library of a platform package, as its package.json lists them under `elizaInference.libraries`, best first. */
export interface PackagedLibrary {
  /** below the package's folder */
  file: string;
  /** instruction sets that the processor must have, by the operating system's names */
  needs: readonly string[];
}

/** Where a library may lie, or why it does not: one line of the list that a failure shows. */
export type Place = { from: string } & (
  | { path: string; reason?: undefined }
  | { path?: undefined; reason: string }
);

/**
 * The libraries of the installed platform packages that this machine's processor can run, best first. A package that
 * is missing or cannot serve is a place with its reason.
 */
export async function packagedLibraries(
  resolveFrom: string | URL = ownAddress(),
  targets: readonly Target[] = hostTargets(),
): Promise<Place[]> {
  if (targets.length === 0) {
    return [{ from: "platform package", reason: `there is none for ${process.platform} ${process.arch}` }];
  }
  const { resolve } = createRequire(resolveFrom);
  const places = [...new Set(targets.map((target) => target.package))].map(async (name): Promise<Place[]> => {
    const from = `package ${name}`;
    let manifest: string;
    try {
      manifest = resolve(`${name}/package.json`);
    } catch {
      const of = targets.filter((target) => target.package === name);
      const refused = of.every((target) => target.refused !== undefined) ? of[0]?.refused : undefined;
      return [{ from, reason: `is not installed${refused ? `; none is made: ${refused}` : ""}` }];
    }
    return librariesOf(from, manifest);
  });
  return (await Promise.all(places)).flat();
}

async function librariesOf(from: string, manifest: string): Promise<Place[]> {
  const { elizaInference } = JSON.parse(await readFile(manifest, "utf8")) as {
    elizaInference?: { libraries?: readonly PackagedLibrary[] };
  };
  const libraries = elizaInference?.libraries ?? [];
  if (libraries.length === 0) return [{ from, reason: `${manifest} lists no library` }];
  const features = libraries.some(({ needs }) => needs.length > 0)
    ? new Set(await processorFeatures())
    : null;
  return libraries.map(({ file, needs }) => {
    const lacking = needs.filter((feature) => !features?.has(feature));
    const place = `${from}, ${file}`;
    return lacking.length > 0
      ? { from: place, reason: `the processor lacks ${lacking.join(", ")}` }
      : { from: place, path: join(dirname(manifest), file) };
  });
}
