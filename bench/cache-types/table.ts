import { cacheOf, FLOOR, mappedCaches, type Side, TYPES } from "./caches.ts";
import { FLOAT32_KL } from "./float32-figures.ts";
import { type Engine, findRow, type ModelResults, type Row } from "./results.ts";

const SIDES: readonly { side: Side; title: string }[] = [
  { side: "both", title: "K and V" },
  { side: "k", title: "K alone, V f16" },
  { side: "v", title: "V alone, K f16" },
];

const OTHERS: readonly { engine: Engine; title: string }[] = [
  { engine: "ours, quantized weights", title: "The weights as the file has them:" },
  { engine: "upstream", title: "llama.cpp without our edits, weights in float32:" },
  {
    engine: "upstream, quantized weights",
    title: "llama.cpp without our edits, the weights as the file has them:",
  },
];

/** Behind the name of a cache that another machine computed. */
const MARK = "°";

/** One model's results as Markdown: our engine by side, what is missing, and llama.cpp's own attention. */
export function renderModel(results: ModelResults): string {
  const { reference } = results;
  const shape = describeShape(results);
  const lines = [
    `### ${results.title}`,
    "",
    `${shape}. ${reference.positions.toLocaleString("en")} positions scored, ${results.chunkCount} pieces of ` +
      `${results.length.toLocaleString("en")} tokens from position ${results.start.toLocaleString("en")} on. ` +
      `The f16 cache: perplexity ${reference.perplexity.toFixed(2)}, ${reference.bytesPerToken.toLocaleString("en")} bytes a token.`,
    "",
    "| K / V | bytes a token | of f16 | KL divergence | × q4_0 | float32 | same top token | perplexity ratio |",
    "|---|---|---|---|---|---|---|---|",
  ];
  const missing: string[] = [];
  const floor = findRow(results, "ours", FLOOR);
  if (floor) lines.push(renderRow(results, floor, "*floor: f16 / f16, row by row*"));
  else missing.push(FLOOR);
  for (const { side, title } of SIDES) {
    lines.push(`| **${title}** | | | | | | | |`);
    for (const type of TYPES) {
      const cache = cacheOf(type, side);
      if (!cache) continue;
      const row = findRow(results, "ours", cache);
      if (row) lines.push(renderRow(results, row, cache + (row.where ? MARK : "")));
      else if (!results.refused.includes(cache)) missing.push(cache);
    }
  }
  lines.push(...renderMapped(results));
  const refused = results.refused.filter((cache) => !cache.includes("+"));
  if (refused.length > 0) lines.push("", `Not for these heads: ${refused.join(", ")}.`);
  const elsewhere = [...new Set(results.rows.flatMap(({ where }) => where ?? []))];
  if (elsewhere.length > 0) lines.push("", `${MARK} ${elsewhere.join("; ")}.`);
  if (missing.length > 0) lines.push("", `Not measured yet: ${missing.join(", ")}.`);
  for (const { engine, title } of OTHERS) {
    const rows = results.rows.filter((row) => row.engine === engine);
    if (rows.length === 0) continue;
    lines.push(
      "",
      title,
      "",
      "| K / V | KL divergence | same top token | ours, weights in float32 |",
      "|---|---|---|---|",
    );
    for (const row of rows) {
      const ours = findRow(results, "ours", row.cache);
      lines.push(
        `| ${row.cache} | ${interval(row)} | ${percent(row.top1)} | ${ours ? interval(ours) : "–"} |`,
      );
    }
  }
  return lines.join("\n");
}

/** Rows behind a learned map, beside q4_0 and beside the same type without one. */
function renderMapped(results: ModelResults): string[] {
  const rows = mappedCaches(
    TYPES,
    SIDES.map(({ side }) => side),
  ).flatMap((cache) => findRow(results, "ours", cache) ?? []);
  if (rows.length === 0) return [];
  const lines = [
    "",
    "Through a learned map (docs/learned-maps.md), keys where K is coded, else values:",
    "",
    "| K / V | bytes a token | KL divergence | × q4_0 | × plain | same top token | perplexity ratio |",
    "|---|---|---|---|---|---|---|",
  ];
  const base = findRow(results, "ours", "q4_0/q4_0");
  for (const row of rows) {
    const name = row.cache.replace(/\+.*/, "");
    const mark = row.where ? MARK : "";
    const plain = findRow(results, "ours", name);
    lines.push(
      `| ${[
        name + mark,
        row.bytesPerToken.toLocaleString("en"),
        interval(row),
        base ? significant(row.kl / base.kl, 2) : "–",
        plain ? significant(row.kl / plain.kl, 2) : "–",
        percent(row.top1),
        row.perplexityRatio.toFixed(4),
      ].join(" | ")} |`,
    );
  }
  return lines;
}

function renderRow(results: ModelResults, row: Row, label: string): string {
  const base = findRow(results, "ours", "q4_0/q4_0");
  const computed = FLOAT32_KL[results.model]?.[row.cache];
  const bytes =
    row.bytesPerToken === row.computedBytesPerToken
      ? row.bytesPerToken.toLocaleString("en")
      : `${row.bytesPerToken} measured, ${row.computedBytesPerToken} computed`;
  return `| ${[
    label,
    bytes,
    percent(row.bytesPerToken / results.reference.bytesPerToken, 0),
    interval(row) + (row.chunks < results.chunkCount ? ` (${row.positions} positions)` : ""),
    base ? significant(row.kl / base.kl, 2) : "–",
    computed === undefined ? "" : String(computed),
    percent(row.top1),
    row.perplexityRatio.toFixed(4),
  ].join(" | ")} |`;
}

function describeShape({ shape }: ModelResults): string {
  const heads = new Set(
    shape.layers.map(
      (layer) => `${layer.kvHeads} KV head${layer.kvHeads > 1 ? "s" : ""} of ${layer.headDimK}`,
    ),
  );
  const sliding = shape.layers.filter((layer) => layer.slidingWindow > 0);
  const window = sliding[0] ? `, ${sliding.length} of them with a window of ${sliding[0].slidingWindow}` : "";
  return `${shape.layers.length} layers with ${[...heads].join(" or ")}${window}`;
}

const significant = (value: number, digits: number): string => {
  if (!Number.isFinite(value)) return String(value);
  return value >= 10 ** digits ? value.toFixed(0) : Number(value.toPrecision(digits)).toString();
};
const percent = (share: number, digits = 1): string => `${(share * 100).toFixed(digits)} %`;

function interval({ kl, klHalfWidth }: Row): string {
  const digits = Math.max(0, 1 - Math.floor(Math.log10(Math.abs(klHalfWidth) || 1e-9)));
  return `${kl.toFixed(Math.min(digits, 7))} ± ${klHalfWidth.toFixed(Math.min(digits, 7))}`;
}
