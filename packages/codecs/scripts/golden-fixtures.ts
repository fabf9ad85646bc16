import { format, formatsFor } from "../src/format.ts";
import type { FormatName, FormatOptions } from "../src/format-families.ts";
import type { Tile } from "../src/head-layout.ts";
import { sha256 } from "../src/sha256.ts";
import type { Encoder } from "../src/tile-codec.ts";
import { concatenate, GOLDEN_HEAD_DIMS, goldenQueries, goldenRows } from "./golden-rows.ts";

interface StoredFile {
  file: string;
  sha256: string;
}

interface GoldenFormat {
  name: FormatName;
  head_dim: number;
  options: FormatOptions;
  hash: string;
  row_bytes: number;
  rotated_dim: number;
  tiles: readonly Tile[];
  prepared_queries_sha256: string;
  encoded: Record<Encoder, EncodedRows>;
}

/** The rows as one encoder writes them, and what comes of them. */
interface EncodedRows extends StoredFile {
  /** Of the decoded rows as little-endian float32. */
  decoded_sha256: string;
  decoded_rotated_sha256: string;
  /** [queries][rows], from the float64 reference. */
  scores: number[][];
}

interface Variant {
  name: FormatName;
  options: FormatOptions;
  label: string;
}

/** Every rate at tiles of 32 for the narrowest heads, and at the widest tile for 128. */
function trellisVariants(headDim: number): Variant[] {
  const tile = headDim === 96 ? 32 : headDim === 64 ? 64 : 128;
  if (headDim > 128) return [];
  return ([1, 2, 3, 4, 5, 6] as const).map((rate) => ({
    name: "trellis",
    options: { rate, tile },
    label: `trellis${rate}x${tile}`,
  }));
}

/** Formats of a head size with every choice of options that changes bytes. */
function variants(headDim: number): Variant[] {
  return formatsFor(headDim).flatMap((name): Variant[] => {
    const plain = { name, options: {}, label: name };
    if (name === "q4_polar") {
      return [plain, { name, options: { residual: true }, label: "q4_polar-residual" }];
    }
    if (name === "qjl1_256") return [plain, { name, options: { projection: "iid" }, label: "qjl1_256-iid" }];
    if (name === "trellis") return trellisVariants(headDim);
    return [plain];
  });
}

/** fixtures/golden: input rows, their bytes by both encoders, hashes of what they decode to. */
export function goldenFixtures(): Map<string, Uint8Array> {
  const files = new Map<string, Uint8Array>();
  const store = (file: string, bytes: Uint8Array): StoredFile => {
    files.set(file, bytes);
    return { file, sha256: sha256(bytes) };
  };
  const inputs: Record<
    string,
    { rows: StoredFile; count: number; queries: StoredFile; query_count: number }
  > = {};
  const formats: GoldenFormat[] = [];
  for (const headDim of GOLDEN_HEAD_DIMS) {
    const rows = goldenRows(headDim);
    const queries = goldenQueries(headDim);
    inputs[headDim] = {
      rows: store(`rows-${headDim}.f32`, concatenate(rows)),
      count: rows.length,
      queries: store(`queries-${headDim}.f32`, concatenate(queries)),
      query_count: queries.length,
    };
    for (const { name, options, label } of variants(headDim)) {
      const codec = format(name, headDim, options);
      const prepared = queries.map(codec.prepareQuery);
      const encoded = (encoder: Encoder): EncodedRows => {
        const bytes = rows.map((row) => codec.encode(row, { encoder }));
        return {
          ...store(`${label}-${headDim}.${encoder}.bin`, concatenate(bytes)),
          decoded_sha256: sha256(concatenate(bytes.map(codec.decode))),
          decoded_rotated_sha256: sha256(concatenate(bytes.map(codec.decodeRotated))),
          scores: prepared.map((query) => bytes.map((row) => Number(codec.score(query, row).toPrecision(9)))),
        };
      };
      formats.push({
        name,
        head_dim: headDim,
        options,
        hash: codec.hash,
        row_bytes: codec.rowBytes,
        rotated_dim: codec.rotatedDim,
        tiles: codec.tiles,
        prepared_queries_sha256: sha256(concatenate(prepared)),
        encoded: { default: encoded("default"), reference: encoded("reference") },
      });
    }
  }
  // A list of scores on one line.
  const index = `${JSON.stringify({ inputs, formats }, null, 1)}\n`.replace(
    /\[\s+([-.\de]+(?:,\s+[-.\de]+)*)\s+\]/g,
    (_, list: string) => `[${list.replace(/\s+/g, " ")}]`,
  );
  files.set("index.json", new TextEncoder().encode(index));
  return files;
}
