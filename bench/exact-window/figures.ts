import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Point, plotPoints } from "../learned-maps/plot.ts";
import { cacheOf, WAYS } from "./plan.ts";
import type { WindowRun } from "./results.ts";

/** Writes a figure a model, of its run with most pairs of types. Returns the Markdown that shows them. */
export async function drawFigures(runs: readonly WindowRun[], folder: string): Promise<string[]> {
  const shown: string[] = [];
  for (const model of new Set(runs.map((run) => run.model))) {
    const [run] = runs
      .filter((each) => each.model === model)
      .sort((a, b) => pointsOf(b).length - pointsOf(a).length);
    if (!run || pointsOf(run).length < 4) continue;
    const name = `exact-window-${model}.svg`;
    const title = `${run.title}, ${run.length} tokens: KL divergence against bytes a token, all of the cache counted`;
    await writeFile(join(folder, name), plotPoints(title, pointsOf(run)));
    shown.push(`![${run.title}, ${run.length} tokens: divergence against bytes](${name})`);
  }
  return shown;
}

/** Pairs that code both sides, scored as all are. */
function pointsOf({ rows, length }: WindowRun): Point[] {
  const pairs = new Set(rows.map(({ k, v }) => `${k}/${v}`));
  return [...pairs]
    .filter((types) => !types.includes("f16"))
    .flatMap((types) =>
      WAYS.flatMap((look): Point[] => {
        const row = rows.find(({ cache }) => cache === cacheOf(types, look));
        if (!row) return [];
        const label = row.k === row.v ? row.k : `${row.k} / ${row.v}`;
        return [{ bytes: Math.round(row.bytes / length), kl: row.kl, label, look }];
      }),
    );
}
