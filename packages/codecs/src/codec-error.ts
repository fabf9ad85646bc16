/** What can go wrong in this package; the strings are stable. */
export type CodecErrorCode =
  | "FORMAT_UNKNOWN"
  | "HEAD_DIM_UNSUPPORTED"
  | "OPTION_INVALID"
  | "ROW_LENGTH"
  | "ROW_NOT_FINITE"
  | "ROW_OVERFLOW"
  | "BYTES_LENGTH"
  | "ATTENTION_SHAPE";

/** Every error this package throws: what was wrong and found (`message`), what to do (`hint`). */
export class CodecError extends Error {
  override readonly name = "CodecError";
  readonly code: CodecErrorCode;
  readonly hint: string;

  constructor(code: CodecErrorCode, message: string, hint: string) {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}
