/** What the exact window's tables are made of: models, contexts and caches, as eliza-quality is asked for them. */

/** Tokens that are scored at once. Each query has its own window, so the figure is that of one at a time ("@1"). */
const AT_ONCE = 8;

/** How a cache is read; the map of a cache with a window was made for it. */
export const WAYS = ["plain", "mapped", "window", "both"] as const;
export type Way = (typeof WAYS)[number];

/** Map names as eliza-quality has them: made for the window, and for no window. */
export const WINDOW_MAP = "map";
export const PLAIN_MAP = "map-plain";

const suffixes: Readonly<Record<Way, readonly [window: string, map: string]>> = {
  plain: ["", ""],
  mapped: ["", `+${PLAIN_MAP}`],
  window: ["~128,4", ""],
  both: ["~128,4", `+${WINDOW_MAP}`],
};

/** K/V as eliza-quality reads it; `batch` 0 for whole batches. */
export function cacheOf(types: string, way: Way, batch = AT_ONCE): string {
  const [window, map] = suffixes[way];
  return `${types}${window}${batch > 0 ? `@${batch}` : ""}${map}`;
}

/** One call of eliza-quality. Parts of one model, length and start are scored on the same positions. */
export interface Part {
  readonly id: string;
  readonly model: string;
  readonly length: number;
  /** positions before it are not scored */
  readonly start: number;
  readonly pieces: number;
  readonly caches: readonly string[];
}

const each = (types: string, ...ways: Way[]): string[] => ways.map((way) => cacheOf(types, way));

/** What every model and context has. */
const MAIN = [
  ...each("q4_0/q4_0", ...WAYS),
  ...each("turbo4_mix/turbo4_tcq", "both"),
  ...each("turbo3_mix/turbo3_tcq", "both"),
  ...each("turbo2_mix/turbo2_tcq", "both"),
];
const MORE = [
  ...each("turbo4_mix/turbo4_tcq", "mapped"),
  ...each("turbo3_mix/turbo3_tcq", "mapped"),
  ...each("turbo4/turbo4", "window"),
  ...each("turbo4_tcq/turbo4_tcq", "window"),
  ...each("turbo3_tcq/turbo3_tcq", "window"),
  ...each("turbo2_tcq/turbo2_tcq", "window"),
  ...each("turbo4_mix/turbo3_tcq", "both"),
  ...each("turbo3_mix/turbo4_tcq", "both"),
];
const OTHERS = [
  ...each("turbo4/turbo4", "plain", "both"),
  ...each("turbo4_tcq/turbo4_tcq", "plain", "both"),
  ...each("turbo3_tcq/turbo3_tcq", "both"),
  ...each("q8_0/q8_0", "window"),
  ...each("turbo4_tcq/turbo3_tcq", "window"),
];
const APART = [
  ...each("q4_0/f16", "plain", "window", "both"),
  ...each("f16/q4_0", "plain", "window"),
  ...["turbo4_mix/f16", "turbo3_mix/f16", "turbo2_mix/f16"].flatMap((types) => each(types, "both")),
  ...["f16/turbo4_tcq", "f16/turbo3_tcq", "f16/turbo2_tcq"].flatMap((types) => each(types, "window")),
];
/** One token at a time, to be held against the same caches at AT_ONCE and in whole batches; and f16's own rounding. */
const CONTROLS = [
  cacheOf("q4_0/q4_0", "plain", 1),
  cacheOf("q4_0/q4_0", "window", 1),
  cacheOf("turbo4_mix/turbo4_tcq", "both", 1),
  cacheOf("q4_0/q4_0", "plain", 0),
  cacheOf("q4_0/q4_0", "mapped", 0),
  // what a map that was made for a window does without it
  `${cacheOf("q4_0/q4_0", "plain")}+${WINDOW_MAP}`,
  "f16/f16@1",
];
/** Plain q4_0, of which all is a share. */
export const BASE = cacheOf("q4_0/q4_0", "plain");

function parts(model: string, length: number, scored: number, pieces: number, ...lists: string[][]): Part[] {
  return lists.map((caches, at) => ({
    ...{ id: `${model}-${length}-${scored}-${at + 1}`, model, length, start: length - scored, pieces },
    caches: at === 0 || caches.includes(BASE) ? caches : [BASE, ...caches],
  }));
}

/** In the order in which they matter. */
export const PLAN: readonly Part[] = [
  ...parts("smollm2-135m", 4096, 2048, 2, MAIN, MORE),
  ...parts("smollm2-135m", 8000, 1024, 2, MAIN),
  ...parts("smollm2-135m", 4096, 1024, 1, OTHERS, APART),
  ...parts("smollm2-135m", 4096, 512, 1, CONTROLS),
  ...parts("pico", 4096, 2048, 8, [...MAIN, ...MORE], [...OTHERS, ...APART], CONTROLS),
  ...parts("pico", 8000, 2048, 4, [...MAIN, ...MORE]),
  ...parts("gemma3-270m", 4096, 2048, 2, MAIN, MORE),
  ...parts("gemma3-270m", 16384, 1024, 1, MAIN),
  ...parts("gemma3-270m", 8000, 1024, 1, MAIN),
  ...parts("gemma3-270m", 4096, 1024, 1, OTHERS, APART),
  ...parts("gemma3-270m", 4096, 512, 1, CONTROLS),
];
