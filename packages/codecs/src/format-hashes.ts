import { FORMAT_NAMES, format } from "./format.ts";
import { optionsOf } from "./format-families.ts";
import type { QjlProjection } from "./qjl-projection.ts";

/** Head sizes that kernels have a layout of their own for, by format; one tile each. */
const TILES: Readonly<Record<string, readonly number[]>> = {
  ...{ turbo4: [32], tbq3: [32], turbo3: [128, 64] },
  ...{ turbo3_tcq: [128, 64], turbo4_tcq: [128, 64], turbo2_tcq: [128, 64] },
  ...{ turbo4_mix: [64, 128, 256, 512], turbo3_mix: [64, 128, 256, 512], turbo2_mix: [64, 128, 256, 512] },
  ...{ qjl1_256: [128], q4_polar: [128] },
};

/**
 * The identity of every format that the kernels register, as `{"name", "hash"}` initialisers: the cache name, the width of
 * its tile, and the first 16 digits of KvFormat.hash for one tile. What was stored under another hash decodes to
 * something else.
 */
export function formatHashes(): string {
  const lines: string[] = [];
  for (const name of FORMAT_NAMES) {
    for (const tile of TILES[name] ?? []) {
      const projections = (optionsOf(name).projection ?? [undefined]) as readonly (
        | QjlProjection
        | undefined
      )[];
      for (const projection of projections) {
        const cacheName = projection === "iid" ? `${name}_iid` : name;
        const { hash } = format(name, tile, projection ? { projection } : {});
        lines.push(`{"${cacheName}", ${tile}, "${hash.slice(0, 16)}"}`);
      }
    }
  }
  return `${lines.join(",\n")}\n`;
}
