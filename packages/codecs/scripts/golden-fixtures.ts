import { type FormatName, type FormatOptions, format, formatsFor } from "../src/format.ts";
import type { Tile } from "../src/head-layout.ts";
import { sha256 } from "../src/sha256.ts";
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
  encoded: { default: StoredFile; reference: StoredFile };
  /** Of the decoded rows of `encoded.default` as little-endian float32. */
  decoded_sha256: string;
  decoded_rotated_sha256: string;
  prepared_queries_sha256: string;
}

/** Formats of a head size with every choice of options that changes bytes. */
function variants(headDim: number): { name: FormatName; options: FormatOptions; label: string }[] {
  return formatsFor(headDim).flatMap((name) => {
    const plain = { name, options: {}, label: name };
    if (name === "q4_polar")
      return [plain, { name, options: { residual: true }, label: "q4_polar-residual" }];
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
      const bytes = rows.map((row) => codec.encode(row));
      const reference = rows.map((row) => codec.encode(row, { encoder: "reference" }));
      formats.push({
        name,
        head_dim: headDim,
        options,
        hash: codec.hash,
        row_bytes: codec.rowBytes,
        rotated_dim: codec.rotatedDim,
        tiles: codec.tiles,
        encoded: {
          default: store(`${label}-${headDim}.default.bin`, concatenate(bytes)),
          reference: store(`${label}-${headDim}.reference.bin`, concatenate(reference)),
        },
        decoded_sha256: sha256(concatenate(bytes.map(codec.decode))),
        decoded_rotated_sha256: sha256(concatenate(bytes.map(codec.decodeRotated))),
        prepared_queries_sha256: sha256(concatenate(queries.map(codec.rotateQuery))),
      });
    }
  }
  const index = `${JSON.stringify({ inputs, formats }, null, 1)}\n`;
  files.set("index.json", new TextEncoder().encode(index));
  return files;
}
