export type VerifyErrorCode =
  | "DEVICE_UNAVAILABLE"
  | "TOOL_MISSING"
  | "KERNEL_BUILD"
  | "KERNEL_FAULT"
  | "ARGUMENT_INVALID"
  | "EVIDENCE_INVALID";

/** An error of the harness: what was wrong and what was found, and in `hint` what to do. */
export class VerifyError extends Error {
  override readonly name = "VerifyError";
  readonly code: VerifyErrorCode;
  readonly hint: string;
  constructor(code: VerifyErrorCode, message: string, hint: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.hint = hint;
  }
}
