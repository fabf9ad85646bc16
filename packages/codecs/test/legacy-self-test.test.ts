import assert from "node:assert/strict";
import { test } from "node:test";
import { lcgGaussians } from "../src/gaussian-stream.ts";
import { type FormatOptions, format } from "../src/index.ts";

/**
 * The elizaOS kernels document's self-test: q and x drawn in turn from its PRNG, x encoded by the documented encoder, and its dot
 * product with q taken in the coded basis although q was not rotated. The turbo3_tcq number is this project's,
 * for its own codebook.
 */
const expected: readonly (readonly [string, number, FormatOptions?])[] = [
  ["turbo3", -2.50148],
  ["turbo4", -23.72179],
  ["turbo3_tcq", -4.075847],
  ["qjl1_256", 3.696591, { projection: "iid" }],
  ["q4_polar", -1.994053],
  ["q4_polar", -1.438744, { residual: true }],
];

for (const [name, score, options] of expected) {
  test(`${name}${options ? ` ${JSON.stringify(options)}` : ""} gives the self-test score ${score}`, () => {
    const gaussian = lcgGaussians();
    const q = new Float32Array(128);
    const x = new Float32Array(128);
    for (let i = 0; i < 128; i++) {
      q[i] = gaussian();
      x[i] = gaussian();
    }
    const codec = format(name, 128, options);
    const bytes = codec.encode(x, { encoder: "reference" });
    // qjl and polar were scored with a prepared query, the turbo types with the plain one.
    const query = name.startsWith("turbo") ? q : codec.prepareQuery(q);
    assert.ok(Math.abs(codec.score(query, bytes) - score) <= 1e-5, `${codec.score(query, bytes)}`);
  });
}
