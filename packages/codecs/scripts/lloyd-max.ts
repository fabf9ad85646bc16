import { normalBelow, normalDensity, normalQuantile } from "./normal-quantile.ts";

/**
 * The positive levels of the Lloyd–Max quantiser of N(0, 1) with `levels` (even) outputs: thresholds at
 * midpoints, levels at conditional means, iterated until no level moves by 1e-13.
 */
export function lloydMax(levels: number): number[] {
  const half = levels / 2;
  let current = Array.from({ length: half }, (_, i) => normalQuantile(0.5 + (i + 0.5) / levels));
  for (let round = 0; round < 100_000; round++) {
    const edges = [0, ...current.slice(1).map((level, i) => (level + current[i]!) / 2), 8];
    const next = current.map((_, i) => {
      const mass = normalBelow(edges[i + 1]!) - normalBelow(edges[i]!);
      return (normalDensity(edges[i]!) - normalDensity(edges[i + 1]!)) / mass;
    });
    const moved = Math.max(...next.map((level, i) => Math.abs(level - current[i]!)));
    current = next;
    if (moved < 1e-13) break;
  }
  return current;
}
