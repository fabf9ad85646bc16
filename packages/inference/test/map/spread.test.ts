import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Rope, Spread } from "../../src/maps/spread.ts";
import { normals } from "./tiny-model.ts";

/** R(Δ) as a matrix, straight from RoPE's definition. */
function rotation(d: number, rope: Rope, shift: number): number[][] {
  const matrix = Array.from({ length: d }, (_, i) =>
    Array.from({ length: d }, (_, j): number => (i === j ? 1 : 0)),
  );
  const n = rope.frequencies.length;
  for (const [pair, frequency] of rope.frequencies.entries()) {
    const [x, y] = rope.pairs === "halves" ? [pair, pair + n] : [2 * pair, 2 * pair + 1];
    const [cos, sin] = [Math.cos(frequency * shift), Math.sin(frequency * shift)];
    matrix[x]![x] = cos;
    matrix[x]![y] = -sin;
    matrix[y]![x] = sin;
    matrix[y]![y] = cos;
  }
  return matrix;
}

describe("statistics spread over positions", () => {
  const d = 10;
  const draw = normals(1);
  const half = Array.from({ length: d * d }, draw);
  const symmetric = Float64Array.from(half, (_, at) => half[at]! + half[(at % d) * d + Math.floor(at / d)]!);
  const vector = Float64Array.from({ length: d }, draw);

  for (const pairs of ["halves", "neighbours"] as const) {
    // Two dimensions more than RoPE turns, and two pairs of the same frequency.
    const rope: Rope = { pairs, frequencies: Float64Array.from([1, 0.3, 0.011, 0.011]) };

    it(`are the average over every shift (${pairs})`, () => {
      const shifts = 57;
      const spread = new Spread(d, rope, shifts);
      const expected = new Float64Array(d * d);
      const expectedVector = new Float64Array(d);
      for (let shift = 0; shift <= shifts; shift++) {
        const r = rotation(d, rope, shift);
        for (let i = 0; i < d; i++) {
          for (let k = 0; k < d; k++) expectedVector[i]! += (r[i]![k]! * vector[k]!) / (shifts + 1);
          for (let j = 0; j < d; j++) {
            for (let k = 0; k < d; k++) {
              for (let l = 0; l < d; l++) {
                expected[i * d + j]! += (r[i]![k]! * symmetric[k * d + l]! * r[j]![l]!) / (shifts + 1);
              }
            }
          }
        }
      }
      const close = (a: Float64Array, b: Float64Array) =>
        a.forEach((value, at) => {
          assert.ok(Math.abs(value - b[at]!) < 1e-10, `${at}: ${value}, expected ${b[at]}`);
        });
      close(spread.matrix(symmetric), expected);
      close(spread.vector(vector), expectedVector);
    });

    it(`stay as they are without a shift (${pairs})`, () => {
      const spread = new Spread(d, rope, 0);
      for (const [at, value] of spread.matrix(symmetric).entries()) {
        assert.ok(Math.abs(value - symmetric[at]!) < 1e-12);
      }
    });
  }

  it("stay as they are where there is no RoPE", () => {
    const spread = new Spread(d, { pairs: "none", frequencies: new Float64Array(0) }, 1000);
    assert.deepEqual(spread.matrix(symmetric), symmetric);
    assert.deepEqual(spread.vector(vector), vector);
  });
});
