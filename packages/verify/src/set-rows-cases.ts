import { type QjlProjection, qjlProjection } from "@eliza-inference/codecs";
import type { KernelEntry, RowFormat } from "./device.ts";
import { fittingFormat } from "./format-of.ts";
import { goldenRows } from "./golden.ts";
import { floatFromHalf } from "./half-queries.ts";
import type { KernelCase, PlannedCase } from "./kernel-case.ts";
import { Random } from "./random.ts";
import { randomHalves } from "./rows.ts";
import { trellisCodebooks } from "./trellis-buffers.ts";
import { formatId } from "./variants.ts";

const THREADS = 128;
const FLAG = { ids: 1, halves: 2, residual: 4 } as const;
const HEADS = 2;
/** Of the golden rows, the first: emulated threads take long over a trellis. */
const GOLDEN_ROWS = 4;
const RESIDUAL = 1000;

/** What rows are encoded, to what. */
interface Rows {
  readonly heads: number;
  /** The bytes of the values, f32 or f16. */
  readonly values: Uint8Array;
  readonly halves: boolean;
  /** Encoded rows, one after the other. */
  readonly encoded: Uint8Array;
}

function setRowsCase({ codec, options }: RowFormat, { heads, values, halves, encoded }: Rows): KernelCase {
  const { headDim, rowBytes } = codec;
  const stride = heads * rowBytes;
  const count = encoded.length / stride;
  const expected = new Float64Array(encoded.length);
  for (let row = 0; row < count; row++) {
    expected.set(encoded.subarray(row * stride, (row + 1) * stride), (count - 1 - row) * stride);
  }
  const ids = BigInt64Array.from({ length: count }, (_, row) => BigInt(count - 1 - row));
  const flags = FLAG.ids | (halves ? FLAG.halves : 0) | (options.residual ? FLAG.residual : 0);
  const widest = codec.tiles[0]!.kind.startsWith("trellis") ? codec.tiles[0]!.width : 128;
  const format = formatId({ codec, options }) % RESIDUAL;
  const projection = (options.projection ?? "orthogonal") as QjlProjection;
  return {
    constants: { rows: 1, heads: 1, threads: THREADS },
    groups: [count * heads * Math.ceil(headDim / widest), 1, 1],
    params: Uint32Array.of(format, headDim, heads, values.length / count, 0, stride, 0, flags),
    inputs: [
      ...[values, ids, undefined, trellisCodebooks()],
      codec.name === "qjl1_256" ? qjlProjection(projection) : new Float32Array(4),
    ],
    ...{ expected, magnitude: new Float64Array(expected.length).fill(1), output: "u8" },
    tolerance: { absolute: 0 },
  };
}

/** Rows whose every kind is there: zeros, NaN, magnitudes that overflow, and ordinary ones; two heads a row, f16. */
function halfRows({ codec }: RowFormat): Rows {
  const { headDim } = codec;
  const bits = randomHalves(HEADS * 3 * headDim, new Random(headDim * 19 + 5));
  bits.fill(0, headDim, 2 * headDim);
  bits[3 * headDim + 1] = 0x7e00;
  const values = Float32Array.from(bits, floatFromHalf);
  const encoded = Array.from({ length: HEADS * 3 }, (_, i) => [
    ...codec.encode(values.subarray(i * headDim, (i + 1) * headDim), { nonFinite: "mark" }),
  ]);
  const bytes = new Uint8Array(bits.buffer, bits.byteOffset, bits.byteLength);
  return { heads: HEADS, values: bytes, halves: true, encoded: Uint8Array.from(encoded.flat()) };
}

function namesOf(kernel: KernelEntry): string[] {
  return [...new Set(kernel.formats.map(({ name }) => name))];
}

/** The golden bytes of the default encoder from f32, and the codecs' bytes from f16; rows in reverse, by their ids. */
export function setRowsCases(kernel: KernelEntry): PlannedCase[] {
  const known = new Set(
    kernel.formats.flatMap(({ name, options }) => options.map((choice) => name + JSON.stringify(choice))),
  );
  const options = ({ codec, options: given }: RowFormat): string => {
    const plain = given.residual === false ? {} : given.projection === "orthogonal" ? {} : given;
    return codec.name + JSON.stringify(plain);
  };
  const golden = goldenRows(namesOf(kernel))
    .filter(({ encoder, format }) => encoder === "default" && known.has(options(format)))
    .map(
      ({ format, label, files, read }): PlannedCase => ({
        ...{ kernel, formats: [format], name: `golden ${label} f32`, origin: "golden", files },
        long: format.codec.headDim > 128,
        make: () => {
          const { values, rows } = read();
          const { headDim, rowBytes } = format.codec;
          const bytes = new Uint8Array(values.buffer, values.byteOffset, 4 * headDim * GOLDEN_ROWS);
          const encoded = rows.subarray(0, rowBytes * GOLDEN_ROWS);
          return setRowsCase(format, { heads: 1, values: bytes, halves: false, encoded });
        },
      }),
    );
  const generated = kernel.formats.flatMap(({ name, options: choices }) =>
    choices.flatMap((choice) =>
      [64, 96, 128].flatMap((headDim): PlannedCase[] => {
        const format = fittingFormat(name, headDim, choice);
        if (!format) return [];
        const label = [name, ...Object.values(choice).map(String), `d${headDim}`].join(" ");
        return [
          {
            ...{ kernel, formats: [format], name: `${label} f16`, origin: "generated", files: [] },
            long: headDim !== 128,
            make: () => setRowsCase(format, halfRows(format)),
          },
        ];
      }),
    ),
  );
  return [...golden, ...generated];
}
