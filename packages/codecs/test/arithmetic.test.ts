import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, test } from "node:test";
import { lcgGaussians, naturalLog } from "../src/gaussian-stream.ts";
import { hadamard } from "../src/hadamard.ts";
import { bfloatFromFloat, floatFromBfloat, floatFromHalf, halfFromFloat } from "../src/half-floats.ts";
import { sha256 } from "../src/index.ts";
import { dotLanes } from "../src/lane-sums.ts";
import { signedRotationOf } from "../src/rotation.ts";
import { stateAt, writeSymbols } from "../src/symbol-stream.ts";
import { codebookOf } from "../src/trellis-codebooks.ts";
import { viterbi } from "../src/viterbi.ts";

describe("fp16 and bf16", () => {
  test("every fp16 number survives the way through float32", () => {
    for (let half = 0; half < 0x10000; half++) {
      const value = floatFromHalf(half);
      if (Number.isFinite(value)) assert.equal(halfFromFloat(value), half);
    }
  });
  test("rounds to nearest even, over the whole range, subnormals included", () => {
    for (let half = 0; half < 0x7bff; half++) {
      const low = floatFromHalf(half);
      const high = floatFromHalf(half + 1);
      const middle = (low + high) / 2;
      const even = half % 2 === 0 ? half : half + 1;
      assert.equal(halfFromFloat(middle), even);
      assert.equal(halfFromFloat(-middle), even | 0x8000);
      assert.equal(halfFromFloat(low + (high - low) * 0.499), half);
      assert.equal(halfFromFloat(low + (high - low) * 0.501), half + 1);
    }
  });
  test("overflow gives the largest finite number, NaN stays NaN", () => {
    for (const value of [65504, 65519.9, 65520, 1e30, Number.POSITIVE_INFINITY]) {
      assert.equal(halfFromFloat(value), 0x7bff);
      assert.equal(halfFromFloat(-value), 0xfbff);
    }
    assert.equal(halfFromFloat(Number.NaN), 0x7e00);
    assert.equal(bfloatFromFloat(Number.NaN), 0x7fc0);
  });
  test("bf16 rounds to nearest even", () => {
    for (const [value, wanted] of [
      [1, 1],
      [1 + 2 ** -8, 1],
      [1 + 3 * 2 ** -8, 1 + 2 ** -6],
      [1 + 1.01 * 2 ** -8, 1 + 2 ** -7],
    ] as const) {
      assert.equal(floatFromBfloat(bfloatFromFloat(value)), wanted);
    }
  });
});

describe("sums and rotations", () => {
  test("a sum keeps to its 16 lanes and their fold", () => {
    const a = new Float32Array(32).fill(1);
    const b = new Float32Array(32);
    // In lane 0 the small term meets the large one and is lost; alone in lane 8 it would survive the cancellation.
    b[0] = 2 ** 24;
    b[16] = 1;
    b[8] = -(2 ** 24);
    assert.equal(dotLanes(a, b), 0);
    b[16] = 0;
    b[9] = 1;
    assert.equal(dotLanes(a, b), 1);
  });
  test("the Hadamard transform is the Sylvester matrix", () => {
    for (let row = 0; row < 32; row++) {
      const x = new Float32Array(32);
      x[row] = 1;
      hadamard(x);
      x.forEach((value, column) => {
        let parity = row & column;
        parity ^= parity >> 4;
        parity ^= parity >> 2;
        parity ^= parity >> 1;
        assert.equal(value, parity & 1 ? -1 : 1);
      });
    }
  });
  test("signed rotations keep length and turn back", () => {
    const gaussian = lcgGaussians(8n);
    for (const width of [32, 64, 128] as const) {
      const x = Float32Array.from({ length: width }, gaussian);
      const y = x.slice();
      signedRotationOf(width).forward(y);
      assert.ok(Math.abs(dotLanes(y, y) / dotLanes(x, x) - 1) < 1e-6);
      signedRotationOf(width).inverse(y);
      y.forEach((value, i) => {
        assert.ok(Math.abs(value - x[i]!) < 1e-6);
      });
    }
  });
});

describe("the trellis search", () => {
  /** Cost of a path of symbols from a start state. */
  function pathCost(
    rate: 4 | 6,
    samples: Int32Array,
    start: number,
    symbols: readonly number[],
  ): [number, number] {
    const { values } = codebookOf(rate);
    let state = start;
    let cost = 0;
    symbols.forEach((symbol, t) => {
      state = (state >> rate) | (symbol << (9 - rate));
      cost += 2 * values[state]! ** 2 - samples[t]! * values[state]!;
    });
    return [cost, state];
  }

  test("finds the cheapest path of all, free and anchored (against every path of two samples)", () => {
    const rate = 4;
    const samples = Int32Array.of(190, -77);
    for (const anchor of [-1, 0, 5, 31]) {
      let best = Number.POSITIVE_INFINITY;
      for (let start = 0; start < 512; start++) {
        if (anchor >= 0 && start >> rate !== anchor) continue;
        for (let first = 0; first < 16; first++) {
          for (let second = 0; second < 16; second++) {
            const [cost, end] = pathCost(rate, samples, start, [first, second]);
            if (anchor < 0 || end >> rate === anchor) best = Math.min(best, cost);
          }
        }
      }
      const found = viterbi(codebookOf(rate), samples, anchor);
      assert.equal(found.cost, best);
      if (anchor >= 0) assert.equal(found.states[1]! >> rate, anchor);
    }
  });

  test("a tail-biting stream reads back as the states that wrote it, at every rate and tile", () => {
    for (const rate of [1, 2, 3, 4, 5, 6] as const) {
      for (const width of [32, 64, 128]) {
        const gaussian = lcgGaussians(BigInt(rate * width));
        const samples = Int32Array.from({ length: width }, () => Math.round(150 * gaussian()));
        const anchor = (rate * 37 + width) & ((512 >> rate) - 1);
        const states = viterbi(codebookOf(rate), samples, anchor).states.slice();
        const stream = new Uint8Array((width * rate) / 8);
        writeSymbols(states, rate, stream, width * rate);
        states.forEach((state, t) => {
          assert.equal(stateAt(stream, rate, t), state);
        });
      }
    }
  });

  test("metrics of the most extreme tiles stay in 32 bits", () => {
    for (const rate of [1, 6] as const) {
      const { sampleScale, values } = codebookOf(rate);
      // All energy in one sample, and spread so that Σ|u| is largest.
      const flat = new Int32Array(128).fill(Math.round(sampleScale));
      const spike = new Int32Array(128);
      spike[64] = Math.round(Math.sqrt(128) * sampleScale);
      for (const samples of [flat, spike, flat.map((x) => -x)]) {
        const { cost, states } = viterbi(codebookOf(rate), samples, 3);
        let exact = 0;
        states.forEach((state, t) => {
          exact += 2 * values[state]! ** 2 - samples[t]! * values[state]!;
        });
        assert.equal(cost, exact);
      }
    }
  });
});

test("sha256 and the logarithm agree with the platform's", () => {
  for (const length of [0, 1, 55, 56, 63, 64, 65, 1000]) {
    const bytes = Uint8Array.from({ length }, (_, i) => (i * 37) & 255);
    assert.equal(sha256(bytes), createHash("sha256").update(bytes).digest("hex"));
  }
  for (let x = 1e-300; x < 1e300; x *= 1.37e5) {
    assert.ok(Math.abs(naturalLog(x) - Math.log(x)) <= 4 * 2 ** -52 * Math.max(1, Math.abs(Math.log(x))));
  }
});
