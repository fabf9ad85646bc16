export type BuildErrorCode =
  | "TOOL_MISSING"
  | "SOURCE_UNAVAILABLE"
  | "SOURCE_MISMATCH"
  | "EDIT_MALFORMED"
  | "EDIT_NOT_UNIQUE"
  | "BUILD_FAILED"
  | "TARGET_UNKNOWN"
  | "AUDIT_FAILED";

/** What went wrong while the native library was fetched or built. `hint` says what to do about it. */
export class BuildError extends Error {
  override readonly name = "BuildError";
  readonly code: BuildErrorCode;
  readonly hint: string;

  constructor(code: BuildErrorCode, message: string, hint: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
    this.hint = hint;
  }
}
