import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type FormatOptions, format } from "../src/index.ts";
import { gaussianRows, outlierRows, relativeError, scoreError } from "./measure-format.ts";

const ROWS = 4096;
const OUTLIER_ROWS = 512;

/** Format, head size, most relMSE on held-out Gaussian rows. */
const limits: readonly (readonly [string, number, number, FormatOptions?])[] = [
  ["turbo4", 128, 0.006],
  ["tbq3", 128, 0.026],
  ["turbo3", 128, 0.034],
  ["turbo3", 64, 0.034],
  ["turbo3_tcq", 128, 0.018],
  ["turbo3_tcq", 64, 0.019],
  ["turbo4_tcq", 128, 0.0054],
  ["turbo4_tcq", 64, 0.0052],
  ["turbo2_tcq", 128, 0.0765],
  ["q4_polar", 128, 0.0095],
  ["trellis", 128, 0.285, { rate: 1, tile: 128 }],
  ["trellis", 128, 0.0016, { rate: 5, tile: 128 }],
  ["trellis", 128, 0.0005, { rate: 6, tile: 128 }],
];

describe("relMSE of the default encoders", () => {
  for (const [name, headDim, most, options] of limits) {
    const codec = format(name, headDim, options);
    const label = `${name} ${headDim}${options ? ` rate ${options.rate}` : ""}`;
    test(`${label}: at most ${most} on ${ROWS} held-out Gaussian rows, 1.15 of that with outlier channels`, (t) => {
      const started = performance.now();
      const plain = relativeError(codec, gaussianRows(headDim, ROWS));
      const perSecond = (1000 * ROWS) / (performance.now() - started);
      const outlier = relativeError(codec, outlierRows(headDim, OUTLIER_ROWS));
      t.diagnostic(
        `${label}: relMSE ${plain.toFixed(6)}, with outliers ${outlier.toFixed(6)}, ` +
          `${codec.bitsPerValue} bits, ${perSecond.toFixed(0)} rows/s encoded and decoded`,
      );
      assert.ok(plain <= most, `relMSE ${plain}`);
      assert.ok(outlier <= 1.15 * plain, `with outliers ${outlier}, without ${plain}`);
    });
  }
});

// Outlier channels are not asked of qjl1_256: it is held by its score error alone.
describe("qjl1_256", () => {
  for (const [projection, most] of [
    ["orthogonal", 0.048],
    ["iid", 0.082],
  ] as const) {
    test(`${projection}: rms score error at most ${most} of |q||k|`, (t) => {
      const codec = format("qjl1_256", 128, { projection });
      const error = scoreError(codec, gaussianRows(128, ROWS), gaussianRows(128, ROWS, 77n));
      t.diagnostic(`qjl1_256 ${projection}: score error ${error.toFixed(5)} of |q||k|`);
      assert.ok(error <= most, `${error}`);
    });
  }
});

test("the reference encoders are the documented ones, worse than the defaults by what is known", () => {
  const rows = gaussianRows(128, 2048);
  const known: readonly (readonly [string, number])[] = [
    ["turbo4", 0.00894],
    ["tbq3", 0.0326],
    ["turbo3", 0.0338],
    ["q4_polar", 0.00932],
  ];
  for (const [name, documented] of known) {
    const codec = format(name, 128);
    const reference = {
      ...codec,
      encode: (row: Float32Array) => codec.encode(row, { encoder: "reference" }),
    };
    const error = relativeError(reference, rows);
    assert.ok(Math.abs(error / documented - 1) < 0.015, `${name}: ${error}, documented ${documented}`);
    assert.ok(relativeError(codec, rows) < error, name);
  }
});
