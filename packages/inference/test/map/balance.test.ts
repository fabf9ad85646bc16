import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Matrix } from "ml-matrix";
import { balance } from "../../src/maps/balance.ts";
import { normals } from "./tiny-model.ts";

describe("a balanced map", () => {
  const d = 24;
  const draw = normals(2);
  const moment = (spread: number): Matrix => {
    const rows = Matrix.zeros(4 * d, d);
    for (let i = 0; i < 4 * d; i++) for (let j = 0; j < d; j++) rows.set(i, j, draw() * spread ** (j % 7));
    return rows.transpose().mmul(rows);
  };
  const [c, m] = [moment(1.6), moment(0.7)];
  const map = balance(Float64Array.from(c.to1DArray()), Float64Array.from(m.to1DArray()), d);
  const matrix = (values: Float64Array) => Matrix.from1DArray(d, d, Array.from(values));
  const [store, inverse] = [matrix(map.store), matrix(map.inverse)];

  it("is undone by its inverse", () => {
    const product = inverse.mmul(store);
    for (let i = 0; i < d; i++)
      for (let j = 0; j < d; j++) assert.ok(Math.abs(product.get(i, j) - (i === j ? 1 : 0)) < 1e-9);
  });

  it("makes energy and weight diagonal, alike and falling", () => {
    // The ridge of 1e-4 of the mean diagonal is part of the method, so it bounds how far from diagonal they are.
    const energy = store.mmul(c).mmul(store.transpose());
    const weight = inverse.transpose().mmul(m).mmul(inverse);
    const ratio = weight.get(0, 0) / energy.get(0, 0);
    for (let i = 0; i < d; i++) {
      assert.ok(Math.abs(weight.get(i, i) / energy.get(i, i) / ratio - 1) < 0.02);
      if (i > 0) assert.ok(map.importance[i]! <= map.importance[i - 1]!);
      for (let j = 0; j < i; j++) {
        assert.ok(Math.abs(energy.get(i, j)) < 1e-2 * Math.sqrt(energy.get(i, i) * energy.get(j, j)));
        assert.ok(Math.abs(weight.get(i, j)) < 1e-2 * Math.sqrt(weight.get(i, i) * weight.get(j, j)));
      }
    }
    let trace = 0;
    for (let i = 0; i < d; i++) trace += energy.get(i, i);
    assert.ok(Math.abs(trace / d - 1) < 1e-2, "the stored energy is one a dimension");
  });

  it("stays finite for a head that nothing looked at", () => {
    const empty = balance(new Float64Array(d * d), new Float64Array(d * d), d);
    assert.ok(empty.store.every(Number.isFinite) && empty.inverse.every(Number.isFinite));
  });
});
