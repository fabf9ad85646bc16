import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Encoder, FormatOptions } from "@eliza-inference/codecs";
import type { RowFormat } from "./device.ts";
import { formatOf } from "./format-of.ts";
import { ROOT, sha256 } from "./repository.ts";

interface FileEntry {
  readonly file: string;
  readonly sha256: string;
}

interface Index {
  readonly inputs: Readonly<
    Record<string, { rows: FileEntry; count: number; queries: FileEntry; query_count: number }>
  >;
  readonly formats: readonly {
    readonly name: string;
    readonly head_dim: number;
    readonly options: FormatOptions;
    readonly hash: string;
    readonly encoded: Readonly<Record<string, FileEntry>>;
  }[];
}

const FOLDER = "fixtures/golden";

/** Encoded rows of one format, head size and encoder, and queries for them. */
export interface GoldenRows {
  readonly label: string;
  readonly format: RowFormat;
  readonly count: number;
  readonly encoder: Encoder;
  /** Files that it comes from, from ROOT. */
  readonly files: readonly string[];
  /** `values`: the rows that were encoded, one after the other. */
  read(): { values: Float32Array; rows: Uint8Array; queries: Float32Array[] };
}

function readIndex(): Index {
  return JSON.parse(readFileSync(join(ROOT, FOLDER, "index.json"), "utf8")) as Index;
}

/** Reads a fixture and checks its hash, so that a damaged one is never taken for the truth. */
function readFixture(entry: FileEntry): Uint8Array {
  const bytes = readFileSync(join(ROOT, FOLDER, entry.file));
  const found = sha256(bytes);
  if (bytes.length === 0 || found !== entry.sha256) {
    throw new Error(`${FOLDER}/${entry.file}: sha256 ${found}, the index says ${entry.sha256}`);
  }
  return bytes;
}

function readFloats(entry: FileEntry): Float32Array {
  return new Float32Array(Uint8Array.from(readFixture(entry)).buffer);
}

/** The golden rows of the formats named, for every head size and encoder in the fixtures. */
export function goldenRows(names: readonly string[]): GoldenRows[] {
  const { inputs, formats } = readIndex();
  return formats
    .filter((entry) => names.includes(entry.name))
    .flatMap((entry) =>
      Object.entries(entry.encoded).map(([encoder, encoded]) => {
        const input = inputs[entry.head_dim]!;
        const options = Object.values(entry.options).join(" ");
        return {
          label: `${entry.name}${options && ` ${options}`} d${entry.head_dim} ${encoder}`,
          format: {
            codec: formatOf(entry.name, entry.head_dim, entry.options),
            options: entry.options,
          },
          count: input.count,
          encoder: encoder as Encoder,
          files: ["index.json", encoded.file, input.queries.file, input.rows.file].map(
            (file) => `${FOLDER}/${file}`,
          ),
          read: () => {
            const queries = readFloats(input.queries);
            const dim = entry.head_dim;
            return {
              values: readFloats(input.rows),
              rows: new Uint8Array(readFixture(encoded)),
              queries: Array.from({ length: input.query_count }, (_, i) =>
                queries.subarray(i * dim, (i + 1) * dim),
              ),
            };
          },
        };
      }),
    );
}
