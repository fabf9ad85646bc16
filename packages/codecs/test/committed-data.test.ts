import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { attentionFixtures } from "../scripts/attention-fixtures.ts";
import { goldenFixtures } from "../scripts/golden-fixtures.ts";
import { lloydMax } from "../scripts/lloyd-max.ts";
import { seedFixtures } from "../scripts/seed-fixtures.ts";
import { LLOYD_MAX, PROJECTION_SHA256, TRELLIS_DATA } from "../src/codebooks.data.ts";
import {
  POLAR_TABLE,
  qjlProjection,
  SIGNS_RESIDUAL,
  sha256,
  TBQ3_TABLE,
  TURBO4_TABLE,
} from "../src/index.ts";
import { QJL_SIGNS, QJL_WIDTH } from "../src/qjl-projection.ts";
import { tableBytes } from "../src/tile-codec.ts";

describe("committed fixtures are what npm run fixtures writes, and nothing else", () => {
  for (const [folder, make] of [
    ["", seedFixtures],
    ["golden/", goldenFixtures],
    ["attention/", attentionFixtures],
  ] as const) {
    test(`fixtures/${folder}`, () => {
      const root = new URL(`../../../fixtures/${folder}`, import.meta.url);
      const files = make();
      const found = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isFile());
      assert.deepEqual(found.map((entry) => entry.name).sort(), [...files.keys()].sort());
      for (const [name, bytes] of files) {
        assert.ok(readFileSync(new URL(name, root)).equals(bytes), `${name} differs: npm run fixtures`);
      }
    });
  }
});

describe("codebooks and projections", () => {
  test("trellis codebooks have the hashes they were written with and stay in their range", () => {
    assert.deepEqual(
      TRELLIS_DATA.map(({ rate }) => rate),
      [1, 2, 3, 4, 5, 6],
    );
    for (const { values, step, sha256: digest } of TRELLIS_DATA) {
      assert.equal(values.length, 512);
      assert.equal(sha256(new Uint8Array(Int8Array.from(values).buffer)), digest);
      assert.equal(Math.max(...values.map(Math.abs)), 127);
      // Below this step packed metrics could leave 32 bits (docs/formats.md, "Encoder").
      assert.ok(step >= 0.015);
    }
  });

  test("the Lloyd–Max solver converges to the committed levels, and tbq3's table is that optimum", () => {
    for (const bits of [2, 3, 4] as const) {
      lloydMax(2 ** bits).forEach((level, i) => {
        assert.ok(Math.abs(level - LLOYD_MAX[bits][i]!) < 1e-9);
      });
    }
    LLOYD_MAX[3].forEach((level, i) => {
      assert.ok(Math.abs(level - TBQ3_TABLE.centroids[4 + i]!) < 2e-7); // seven digits, float32
    });
    // The 16-level tables of the elizaOS kernels document are near the optimum, not on it.
    for (const [table, most] of [
      [TURBO4_TABLE, 1e-3],
      [POLAR_TABLE, 3e-2],
    ] as const) {
      LLOYD_MAX[4].forEach((level, i) => {
        assert.ok(Math.abs(level - table.centroids[8 + i]!) < most);
      });
    }
  });

  test("projections have their hashes; the documented entries; the orthogonal one is orthogonal", () => {
    for (const kind of ["iid", "orthogonal"] as const) {
      assert.equal(sha256(tableBytes(qjlProjection(kind))), PROJECTION_SHA256[kind]);
    }
    const iid = qjlProjection("iid");
    [0.08738271, -0.5604128, 1.768524, 0.5665752].forEach((value, i) => {
      assert.ok(Math.abs(iid[i]! - value) < 1e-6);
    });
    assert.ok(Math.abs(iid.at(-1)! - 0.4343918) < 1e-6);
    const orthogonal = qjlProjection("orthogonal");
    for (const [a, b] of [
      [0, 0],
      [0, 1],
      [17, 90],
      [128, 128],
      [128, 255],
      [200, 200],
    ] as const) {
      let dot = 0;
      for (let i = 0; i < QJL_WIDTH; i++)
        dot += orthogonal[i * QJL_SIGNS + a]! * orthogonal[i * QJL_SIGNS + b]!;
      assert.ok(Math.abs(dot - (a === b ? QJL_WIDTH : 0)) < 1e-4, `columns ${a} and ${b}: ${dot}`);
    }
  });

  test("the residual's signs are the documented xorshift32 stream", () => {
    let state = 42;
    for (let i = 0; i < 128; i++) {
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
      assert.equal((SIGNS_RESIDUAL[i >> 5]! >>> (i & 31)) & 1, state & 1);
    }
  });
});
