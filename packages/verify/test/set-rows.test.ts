// Encoding on the device: CUDA's source, emulated, writes the bytes of the golden files.
import assert from "node:assert/strict";
import { test } from "node:test";
import koffi from "koffi";
import type { KernelEntry } from "../src/device.ts";
import { buildEmulated } from "../src/emulated/emulated-device.ts";
import { goldenRows } from "../src/golden.ts";
import { trellisCodebooks } from "../src/trellis-buffers.ts";
import { NO_CLANG } from "./devices-here.ts";

const SET_ROWS: KernelEntry = {
  ...{ id: "set_rows", stem: "set_rows", family: "encode", formats: [], queries: "coded", seeds: [] },
  ...{ capability: "set_rows", constants: "none", buffers: ["values", "ids", "bytes", "codebooks"] },
  params: ["n_rows", "n_heads", "value_stride", "byte_stride", "flags"],
  sharedBytes: () => 0,
};
const HAS_IDS = 2;
const THREADS = 128;
const TYPES = [
  ...["turbo4 96", "tbq3 128", "turbo3 64", "turbo3 128", "turbo2_tcq 128", "turbo3_tcq 64"],
  ...["turbo3_tcq 128", "turbo4_tcq 128", "turbo4_mix 128", "turbo3_mix 256", "turbo2_mix 64"],
];

function address(memory: ArrayBufferView): bigint {
  return BigInt(koffi.address(memory));
}

for (const type of TYPES) {
  test(`set_rows writes the golden bytes of ${type}, each row where its index says`, {
    skip: NO_CLANG,
  }, () => {
    const [name, size] = type.split(" ");
    const golden = goldenRows([name!]).find(
      ({ format, encoder }) => format.codec.headDim === Number(size) && encoder === "default",
    )!;
    const { rowBytes, headDim } = golden.format.codec;
    const { values, rows } = golden.read();
    const definitions = [`-DELIZA_K_TYPE=${name}`, `-DELIZA_HEAD_DIM=${size}`];
    const library = koffi.load(buildEmulated("cuda", SET_ROWS, definitions));
    const emulate = library.func(
      "int emulate(uint32_t, uint64_t *, void *, size_t, uint32_t *, uint32_t *, uint32_t, uint32_t, uint32_t, _Out_ uint8_t *, size_t)",
    );
    const ids = BigInt64Array.from({ length: golden.count }, (_, i) => BigInt(golden.count - 1 - i));
    const bytes = new Uint8Array(rows.length + 16).fill(0xa5);
    const params = Uint32Array.of(golden.count, 1, 4 * headDim, rowBytes, HAS_IDS);
    const buffers = BigUint64Array.from([values, ids, bytes, trellisCodebooks()], address);
    const cells = BigUint64Array.from(
      [...buffers.keys()].map((i) => address(buffers.subarray(i, i + 1))).concat(address(params)),
    );
    const widest = name!.includes("tcq") || name!.includes("mix") ? golden.format.codec.tiles[0]!.width : 128;
    const grid = Uint32Array.of(golden.count, Math.ceil(headDim / widest), 1);
    const message = new Uint8Array(256);
    for (const order of [0, 1]) {
      bytes.fill(0xa5);
      const failed = emulate(
        ...[0, cells, new Uint8Array(16), 0, new Uint32Array(3), grid, THREADS, 32, order, message, 256],
      ) as number;
      assert.equal(failed, 0, new TextDecoder().decode(message));
      for (let row = 0; row < golden.count; row++) {
        const at = (golden.count - 1 - row) * rowBytes;
        const want = rows.subarray(row * rowBytes, (row + 1) * rowBytes);
        assert.deepEqual(bytes.subarray(at, at + rowBytes), want, `row ${row}`);
      }
      assert.ok(
        bytes.subarray(rows.length).every((byte) => byte === 0xa5),
        "wrote past the rows",
      );
    }
  });
}
