import { format, type KvFormat } from "@eliza-inference/codecs";

/** A format of the library: its unique name there, and the codec that it must agree with. */
export interface LibraryFormat {
  readonly name: string;
  readonly codec: KvFormat;
}

const tiled: readonly [name: string, codec: string, headDim: number][] = [
  ["turbo4", "turbo4", 32],
  ["tbq3", "tbq3", 32],
  ["turbo3", "turbo3", 128],
  ["turbo3_64", "turbo3", 64],
  ["turbo3_tcq", "turbo3_tcq", 128],
  ["turbo3_tcq_64", "turbo3_tcq", 64],
  ["turbo4_tcq", "turbo4_tcq", 128],
  ["turbo4_tcq_64", "turbo4_tcq", 64],
  ["turbo2_tcq", "turbo2_tcq", 128],
  ["turbo2_tcq_64", "turbo2_tcq", 64],
  ["q4_polar", "q4_polar", 128],
];

/** Every format of the library. */
export function libraryFormats(): LibraryFormat[] {
  const mixed = ["turbo4_mix", "turbo3_mix", "turbo2_mix"].flatMap((name) =>
    [512, 256, 128, 64].map((headDim) => ({ name: `${name}_${headDim}`, codec: format(name, headDim) })),
  );
  return [
    ...tiled.map(([name, codec, headDim]) => ({ name, codec: format(codec, headDim) })),
    { name: "qjl1_256", codec: format("qjl1_256", 128) },
    { name: "qjl1_256_iid", codec: format("qjl1_256", 128, { projection: "iid" }) },
    ...mixed,
  ];
}

/** Uniform numbers in [0, 1) from a 32-bit state (mulberry32). */
export function uniforms(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let z = Math.imul(state ^ (state >>> 15), state | 1);
    z ^= z + Math.imul(z ^ (z >>> 7), z | 61);
    return ((z ^ (z >>> 14)) >>> 0) / 2 ** 32;
  };
}

function gaussians(uniform: () => number): () => number {
  return () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
}

type Draw = (n: number, uniform: () => number, gaussian: () => number) => Iterable<number>;

const repeat = (n: number, value: (i: number) => number) => Array.from({ length: n }, (_, i) => value(i));

/** Rows that are neither Gaussian nor harmless: what a K or V row can look like, and what it must not. */
const oddRows: Record<string, Draw> = {
  zeros: (n) => repeat(n, () => 0),
  negativeZeros: (n) => repeat(n, () => -0),
  denormals: (n, uniform) => repeat(n, () => (uniform() - 0.5) * 1e-38),
  smallestDenormals: (n, uniform) => repeat(n, () => (uniform() < 0.5 ? -1.4e-45 : 1.4e-45)),
  belowZeroLimit: (n, _, gaussian) => repeat(n, () => gaussian() * 1e-10),
  nearZeroLimit: (n, _, gaussian) => repeat(n, () => gaussian() * 1.6e-10),
  tiny: (n, _, gaussian) => repeat(n, () => gaussian() * 1e-6),
  halfDenormalScale: (n, _, gaussian) => repeat(n, () => gaussian() * 3e-5),
  large: (n, _, gaussian) => repeat(n, () => gaussian() * 3e4),
  halfOverflow: (n, _, gaussian) => repeat(n, () => gaussian() * 1e6),
  huge: (n, _, gaussian) => repeat(n, () => gaussian() * 1e17),
  energyOverflow: (n, _, gaussian) => repeat(n, () => gaussian() * 1e20),
  nan: (n, uniform, gaussian) => {
    const at = Math.floor(uniform() * n);
    return repeat(n, (i) => (i === at ? Number.NaN : gaussian()));
  },
  infinite: (n, uniform, gaussian) => {
    const at = Math.floor(uniform() * n);
    return repeat(n, (i) => (i === at ? Number.POSITIVE_INFINITY : gaussian()));
  },
  oneHot: (n, uniform) => {
    const at = Math.floor(uniform() * n);
    return repeat(n, (i) => (i === at ? 3 : 0));
  },
  constant: (n) => repeat(n, () => 1),
  alternating: (n) => repeat(n, (i) => (i % 2 ? 1 : -1)),
  integers: (n, uniform) => repeat(n, () => Math.floor(uniform() * 7) - 3),
  outlierChannels: (n, _, gaussian) => repeat(n, (i) => gaussian() * (i % 41 === 5 ? 12 : 1)),
  heavyTailed: (n, uniform) => repeat(n, () => Math.tan(Math.PI * (uniform() - 0.5))),
  halfZero: (n, _, gaussian) => repeat(n, (i) => (i < n / 2 ? 0 : gaussian())),
};

/** Rows that every format gets for these: each alone, and each between Gaussian heads. */
export const ODD_ROWS = 2 * Object.keys(oddRows).length;

const MARK = { nonFinite: "mark" } as const;

/** One case as check-kernels.c reads it: `heads` heads of the format in a row. */
function encodeCase(name: string, codec: KvFormat, row: Float32Array, query: Float32Array): Buffer[] {
  const heads = row.length / codec.headDim;
  const parts = Array.from({ length: heads }, (_, h) => {
    const x = row.subarray(h * codec.headDim, (h + 1) * codec.headDim);
    const bytes = codec.encode(x, MARK);
    return {
      bytes,
      reference: codec.encode(x, { encoder: "reference", ...MARK }),
      decoded: codec.decode(bytes),
      rotated: codec.decodeRotated(bytes),
      prepared: codec.prepareQuery(query.subarray(h * codec.headDim, (h + 1) * codec.headDim)),
    };
  });
  const text = Buffer.from(name);
  const counts = [text.length, row.length, heads * codec.rowBytes, heads * codec.rotatedDim].map((count) =>
    Buffer.from(Uint32Array.of(count).buffer),
  );
  const raw = (array: Float32Array | Uint8Array) =>
    Buffer.from(array.buffer, array.byteOffset, array.byteLength);
  return [
    counts[0]!,
    text,
    ...counts.slice(1),
    raw(row),
    raw(query),
    ...parts.map((part) => raw(part.bytes)),
    ...parts.map((part) => raw(part.reference)),
    ...parts.map((part) => raw(part.decoded)),
    ...parts.map((part) => raw(part.rotated)),
    ...parts.map((part) => raw(part.prepared)),
  ];
}

/**
 * Cases of every format: every odd row alone and between others, then `gaussianRows` Gaussian rows of varying size, one to three heads each.
 * About 1 ms a trellis row of 128.
 */
export function makeKernelCases(gaussianRows: (name: string) => number, seed = 1): Buffer {
  const uniform = uniforms(seed);
  const gaussian = gaussians(uniform);
  const out: Buffer[] = [];
  for (const { name, codec } of libraryFormats()) {
    const rowOf = (draw: Draw, n: number) => Float32Array.from(draw(n, uniform, gaussian));
    const add = (row: Float32Array) => {
      const query = rowOf((n) => repeat(n, gaussian), row.length);
      out.push(...encodeCase(name, codec, row, query));
    };
    for (const draw of Object.values(oddRows)) {
      const { headDim } = codec;
      add(rowOf(draw, headDim));
      // between others: tiles may be coded side by side
      const mixed = rowOf((n) => repeat(n, gaussian), 4 * headDim);
      mixed.set(rowOf(draw, headDim), headDim);
      mixed.set(rowOf(draw, headDim), 2 * headDim);
      add(mixed);
    }
    for (let i = 0; i < gaussianRows(name); i++) {
      const size = 2 ** Math.floor(uniform() * 12 - 6);
      add(rowOf((n) => repeat(n, () => gaussian() * size), codec.headDim * (1 + (i % 3))));
    }
  }
  return Buffer.concat(out);
}
