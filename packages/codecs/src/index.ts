export { CodecError, type CodecErrorCode } from "./codec-error.ts";
export {
  FORMAT_NAMES,
  type FormatName,
  type FormatOptions,
  format,
  formatsFor,
  isFormatName,
} from "./format.ts";
export type { Tile } from "./head-layout.ts";
export type { EncodeOptions, KvFormat } from "./kv-format.ts";
export { sha256 } from "./sha256.ts";
export type { Encoder, TileKind } from "./tile-codec.ts";
