import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { format } from "../src/index.ts";
import type { TrellisRate } from "../src/trellis-codebook.ts";
import { gaussianRows, relativeError } from "./measure-format.ts";

const expected: readonly (readonly [string, number, readonly number[], number])[] = [
  ["turbo4_mix", 128, [6, 4, 3, 3], 4.5],
  ["turbo3_mix", 128, [5, 3, 2, 2], 3.5],
  ["turbo2_mix", 128, [4, 2, 1, 1], 2.5],
  ["turbo4_mix", 64, [5, 3], 4.5],
  ["turbo3_mix", 64, [4, 2], 3.5],
  ["turbo2_mix", 64, [3, 1], 2.5],
  ["turbo3_mix", 256, [5, 3, 2, 2], 3.25],
  ["turbo3_mix", 512, [5, 3, 2, 2], 3.125],
];

const alone = new Map<string, number>();

/** relMSE of the bare trellis at a rate and tile on plain Gaussian rows. */
function errorAlone(rate: TrellisRate, tile: 32 | 64 | 128): number {
  const key = `${rate} ${tile}`;
  const known =
    alone.get(key) ?? relativeError(format("trellis", tile, { rate, tile }), gaussianRows(tile, 1024, 99n));
  alone.set(key, known);
  return known;
}

describe("mixed rows", () => {
  for (const [name, headDim, rates, bits] of expected) {
    test(`${name} ${headDim}: rates ${rates.join(":")}, each tile within 1.03 of its own rate's error`, () => {
      const codec = format(name, headDim);
      assert.equal(codec.bitsPerValue, bits);
      assert.deepEqual(
        codec.tiles.map((tile) => tile.rate),
        rates,
      );
      const rows = gaussianRows(headDim, 512, 4242n);
      // Variance falls by importance: a factor of 30 in magnitude over the head.
      for (const row of rows) for (let i = 0; i < headDim; i++) row[i]! *= 30 ** (-i / headDim);
      for (const tile of codec.tiles) {
        const own = errorAlone(tile.rate as TrellisRate, tile.width as 32 | 64 | 128);
        const found = relativeError(codec, rows, tile.dim, tile.dim + tile.width);
        assert.ok(found <= 1.03 * own, `tile at ${tile.dim}, rate ${tile.rate}: ${found}, alone ${own}`);
      }
    });
  }
});
