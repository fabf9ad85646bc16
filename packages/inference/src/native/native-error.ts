import { InferenceError, type InferenceErrorCode } from "../errors.ts";

/** What the native library's errors begin with, as ELIZA_ERROR_CODES of its header has it. */
export const NATIVE_CODES = new Set<string>([
  "NOT_IMPLEMENTED",
  "INVALID_ARGUMENT",
  "MODEL_INVALID",
  "NATIVE_FAULT",
  "OUT_OF_MEMORY",
  "ABI_MISMATCH",
  "CANCELLED",
  "MODEL_NOT_FOUND",
  "MODEL_NOT_LOADED",
  "BACKEND_UNAVAILABLE",
  "CACHE_TYPE_UNSUPPORTED",
  "CONTEXT_FULL",
  "CONTEXT_FAILED",
  "NUMERIC_FAULT",
  "MAP_NOT_FOUND",
  "MAP_INVALID",
  "MAP_MISMATCH",
  "MAP_UNSUPPORTED",
  "TEXT_TOO_SHORT",
  "SLOT_NOT_FOUND",
  "SLOT_INVALID",
  "SLOT_MISMATCH",
  "SLOT_WRITE_FAILED",
  "PERMISSION_DENIED",
  "CLOSED",
] satisfies InferenceErrorCode[]);

/** The error that the native library describes as `CODE: message`, a line break, and what to do. */
export function nativeError(text: string | undefined, status: number): InferenceError {
  const [first = "", ...rest] = (text ?? `NATIVE_FAULT: the library answered ${status}`).split("\n");
  const match = /^([A-Z_]+): (.*)$/.exec(first);
  const code = match?.[1] !== undefined && NATIVE_CODES.has(match[1]) ? match[1] : "NATIVE_FAULT";
  return new InferenceError(code as InferenceErrorCode, match?.[2] ?? first, rest.join("\n"));
}
