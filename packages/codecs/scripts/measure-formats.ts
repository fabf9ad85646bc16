// Prints error and speed of every format as a Markdown table (docs/formats.md has one):
// node scripts/ts.mjs packages/codecs/scripts/measure-formats.ts [ROWS]
import { type FormatOptions, format, type KvFormat } from "../src/index.ts";
import { gaussianRows, outlierRows, relativeError, scoreError } from "../test/measure-format.ts";

const count = Number(process.argv[2] ?? 2048);

function perSecond(rows: number, run: () => void): string {
  run();
  const started = performance.now();
  run();
  const rate = (1000 * rows) / (performance.now() - started);
  return String(Number(rate.toPrecision(2)));
}

function line(label: string, codec: KvFormat): string {
  const rows = gaussianRows(codec.headDim, count);
  const encoded = rows.map((row) => codec.encode(row));
  const reference = { ...codec, encode: (row: Float32Array) => codec.encode(row, { encoder: "reference" }) };
  const cells = [
    label,
    String(codec.headDim),
    String(codec.bitsPerValue),
    relativeError(codec, rows).toFixed(5),
    relativeError(reference, rows).toFixed(5),
    relativeError(codec, outlierRows(codec.headDim, count)).toFixed(5),
    scoreError(codec, rows, gaussianRows(codec.headDim, count, 77n)).toFixed(4),
    perSecond(count, () => {
      for (const row of rows) codec.encode(row);
    }),
    perSecond(count, () => {
      for (const bytes of encoded) codec.decode(bytes);
    }),
  ];
  return `| ${cells.join(" | ")} |`;
}

const measured: readonly (readonly [string, number, FormatOptions?])[] = [
  ["turbo4", 128],
  ["tbq3", 128],
  ["turbo3", 128],
  ["turbo3", 64],
  ["turbo4_tcq", 128],
  ["turbo4_tcq", 64],
  ["turbo3_tcq", 128],
  ["turbo3_tcq", 64],
  ["turbo2_tcq", 128],
  ["turbo2_tcq", 64],
  ["q4_polar", 128],
  ["q4_polar", 128, { residual: true }],
  ["qjl1_256", 128],
  ["qjl1_256", 128, { projection: "iid" }],
  ...([1, 2, 3, 4, 5, 6] as const).flatMap((rate) =>
    ([32, 64, 128] as const).map((tile) => ["trellis", 128, { rate, tile }] as const),
  ),
];

console.log(
  "| format | head | bits | relMSE | reference encoder | outlier rows | score error | encode rows/s | decode rows/s |",
);
console.log("|---|---|---|---|---|---|---|---|---|");
for (const [name, headDim, options] of measured) {
  const label = options ? `${name} ${Object.values(options).join("×")}` : name;
  console.log(line(label, format(name, headDim, options)));
}
