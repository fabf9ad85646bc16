import { concatenate, goldenRows } from "../../scripts/golden-rows.ts";
import { format, formatsFor, sha256 } from "../../src/index.ts";

/** One line a format and head size: hashes of the golden rows encoded, and of those decoded. */
export function formatHashes(): string[] {
  return [64, 96, 128, 256].flatMap((headDim) => {
    const rows = goldenRows(headDim);
    return formatsFor(headDim).map((name) => {
      const codec = format(name, headDim);
      const encoded = rows.map((row) => codec.encode(row));
      const decoded = encoded.map(codec.decode);
      return `${name} ${headDim} ${sha256(concatenate(encoded))} ${sha256(concatenate(decoded))}`;
    });
  });
}
