import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { FormatOptions } from "@eliza-inference/codecs";
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
  /** Files that the rows and queries come from, from ROOT. */
  readonly files: readonly string[];
  read(): { rows: Uint8Array; queries: Float32Array[] };
}

let index: Index | undefined;

function readIndex(): Index {
  index ??= JSON.parse(readFileSync(join(ROOT, FOLDER, "index.json"), "utf8")) as Index;
  return index;
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
          files: ["index.json", encoded.file, input.queries.file].map((file) => `${FOLDER}/${file}`),
          read: () => {
            const raw = readFixture(input.queries);
            const values = new Float32Array(
              raw.buffer.slice(raw.byteOffset, raw.byteOffset + raw.byteLength),
            );
            const dim = entry.head_dim;
            const queries = Array.from({ length: input.query_count }, (_, i) =>
              values.subarray(i * dim, (i + 1) * dim),
            );
            return { rows: new Uint8Array(readFixture(encoded)), queries };
          },
        };
      }),
    );
}
