import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  CodecError,
  FORMAT_NAMES,
  type FormatOptions,
  format,
  formatsFor,
  type KvFormat,
} from "../src/index.ts";
import { gaussianRows } from "./measure-format.ts";

const HEAD_DIMS = [32, 64, 96, 128, 192, 256, 384, 512];

/** Every format at every head size it takes, with every choice of options. */
const everyFormat: { label: string; codec: KvFormat }[] = HEAD_DIMS.flatMap((headDim) =>
  formatsFor(headDim).flatMap((name) => {
    const choices: FormatOptions[] = [{}];
    if (name === "qjl1_256") choices.push({ projection: "iid" });
    if (name === "q4_polar") choices.push({ residual: true });
    if (name === "trellis") for (const rate of [1, 2, 3, 5, 6] as const) choices.push({ rate, tile: 32 });
    return choices.map((options) => ({
      label: `${name} ${headDim} ${JSON.stringify(options)}`,
      codec: format(name, headDim, options),
    }));
  }),
);

/** Deterministic bytes that no encoder wrote. */
function noiseBytes(count: number, seed: number): Uint8Array {
  let state = seed | 1;
  return Uint8Array.from({ length: count }, () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state & 255;
  });
}

describe("every format at every head size", () => {
  test("covers the head sizes in use", () => {
    assert.equal(new Set(everyFormat.map(({ codec }) => codec.name)).size, FORMAT_NAMES.length);
    for (const { codec } of everyFormat) {
      const last = codec.tiles.at(-1)!;
      assert.equal(last.dim + last.width, codec.headDim);
      assert.equal(last.byte + last.bytes, codec.rowBytes);
      assert.equal(codec.bitsPerValue, (8 * codec.rowBytes) / codec.headDim);
      assert.match(codec.hash, /^[0-9a-f]{64}$/);
    }
    assert.equal(new Set(everyFormat.map(({ codec }) => codec.hash)).size, everyFormat.length);
  });

  test("score(prepareQuery(q), bytes) is the float64 q·decode(bytes) within 1e-6 of Σ|q k|", () => {
    for (const { label, codec } of everyFormat) {
      const keys = gaussianRows(codec.headDim, 6, 11n);
      const queries = gaussianRows(codec.headDim, 6, 12n);
      keys.forEach((key, row) => {
        const query = queries[row]!;
        const bytes = codec.encode(key);
        const decoded = codec.decode(bytes);
        let dot = 0;
        let magnitude = 0;
        for (let i = 0; i < codec.headDim; i++) {
          dot += query[i]! * decoded[i]!;
          magnitude += Math.abs(query[i]! * decoded[i]!);
        }
        const score = codec.score(codec.prepareQuery(query), bytes);
        assert.ok(Math.abs(score - dot) <= 1e-6 * magnitude, `${label}: ${score} against ${dot}`);
      });
    }
  });

  test("any bytes decode to finite values, or to NaN and Inf by their scale alone", () => {
    for (const { label, codec } of everyFormat) {
      for (let seed = 1; seed <= 8; seed++) {
        const bytes = noiseBytes(codec.rowBytes, seed * 7919);
        const rotated = codec.decodeRotated(bytes);
        for (const tile of codec.tiles) {
          const part = rotated.subarray(tile.rotatedDim, tile.rotatedDim + tile.rotatedWidth);
          const wild = part.filter((value) => !Number.isFinite(value)).length;
          const scales = tile.kind === "turbo3" ? tile.width / 32 : 1;
          // A wild scale makes its whole block wild, so the count comes in whole blocks (0·Inf is NaN).
          assert.equal(wild % (tile.rotatedWidth / scales), 0, `${label} seed ${seed}`);
        }
        assert.equal(codec.decode(bytes).length, codec.headDim);
      }
    }
  });

  test("encoding what was decoded changes nothing that matters: the error stays that of the format", () => {
    for (const { label, codec } of everyFormat) {
      if (codec.name === "qjl1_256") continue;
      const row = gaussianRows(codec.headDim, 1, 5n)[0]!;
      const once = codec.decode(codec.encode(row));
      const twice = codec.decode(codec.encode(once));
      const error = (a: Float32Array) => a.reduce((sum, value, i) => sum + (value - row[i]!) ** 2, 0);
      assert.ok(error(twice) <= 1.25 * error(once), `${label}: ${error(once)} then ${error(twice)}`);
    }
  });

  test("zero rows are zero bytes and decode to zeros; signs and scale of rows are kept", () => {
    for (const { label, codec } of everyFormat) {
      const zero = codec.encode(new Float32Array(codec.headDim));
      assert.ok(
        zero.every((byte) => byte === 0),
        label,
      );
      assert.ok(
        codec.decode(zero).every((value) => value === 0),
        label,
      );
      const row = gaussianRows(codec.headDim, 1, 3n)[0]!;
      const small = codec.decode(codec.encode(row.map((value) => value / 8)));
      assert.deepEqual(
        small.map((value) => value * 8),
        codec.decode(codec.encode(row)),
        label,
      );
    }
  });
});

describe("what cannot be coded", () => {
  const fails = (code: string, run: () => unknown) =>
    assert.throws(
      run,
      (error) => error instanceof CodecError && error.code === code && error.hint.length > 0,
    );

  test("NaN, Inf, and rows too large for float32 sums are typed errors, or marked when asked", () => {
    for (const { codec } of everyFormat) {
      for (const [bad, code] of [
        [Number.NaN, "ROW_NOT_FINITE"],
        [Number.POSITIVE_INFINITY, "ROW_NOT_FINITE"],
        [Number.NEGATIVE_INFINITY, "ROW_NOT_FINITE"],
        [3e38, "ROW_OVERFLOW"],
      ] as const) {
        const row = gaussianRows(codec.headDim, 1)[0]!;
        row[codec.headDim - 1] = bad;
        fails(code, () => codec.encode(row));
        const marked = codec.decode(codec.encode(row, { nonFinite: "mark" }));
        const last = codec.tiles.at(-1)!;
        assert.ok(Number.isNaN(marked[codec.headDim - 1]));
        assert.ok(marked.subarray(0, last.dim).every(Number.isFinite));
      }
    }
  });

  test("wrong lengths are typed errors", () => {
    for (const { codec } of everyFormat) {
      fails("ROW_LENGTH", () => codec.encode(new Float32Array(codec.headDim + 1)));
      fails("ROW_LENGTH", () => codec.prepareQuery(new Float32Array(codec.headDim - 1)));
      fails("ROW_LENGTH", () => codec.unrotate(new Float32Array(codec.rotatedDim + 1)));
      fails("ROW_LENGTH", () => codec.score(new Float32Array(1), new Uint8Array(codec.rowBytes)));
      fails("BYTES_LENGTH", () => codec.decode(new Uint8Array(codec.rowBytes - 1)));
      fails("BYTES_LENGTH", () => codec.decodeRotated(new Uint8Array(0)));
    }
  });

  test("unknown names, head sizes and options are typed errors; the hint lists what fits", () => {
    fails("FORMAT_UNKNOWN", () => format("turbo5", 128));
    fails("FORMAT_UNKNOWN", () => format("toString", 128));
    for (const headDim of [0, -32, 1.5, 48, 80, 112, Number.NaN]) {
      for (const name of FORMAT_NAMES) fails("HEAD_DIM_UNSUPPORTED", () => format(name, headDim));
    }
    assert.throws(
      () => format("turbo3_tcq", 96),
      (error) => error instanceof CodecError && /turbo4, tbq3/.test(error.hint),
    );
    fails("OPTION_INVALID", () => format("turbo4", 128, { rate: 3 }));
    fails("OPTION_INVALID", () => format("trellis", 128, { rate: 7 as 6 }));
    fails("OPTION_INVALID", () => format("qjl1_256", 128, { projection: "dense" as "iid" }));
  });
});
