import { InferenceError, type InferenceErrorCode } from "../errors.ts";

const NATIVE_CODES = new Set<string>([
  "MODEL_NOT_FOUND",
  "MODEL_INVALID",
  "CACHE_TYPE_UNSUPPORTED",
  "BACKEND_UNAVAILABLE",
  "OUT_OF_MEMORY",
  "CONTEXT_FULL",
  "CONTEXT_FAILED",
  "NATIVE_FAULT",
  "NUMERIC_FAULT",
  "NOT_IMPLEMENTED",
  "CANCELLED",
  "MAP_NOT_FOUND",
  "MAP_INVALID",
  "MAP_MISMATCH",
  "MAP_UNSUPPORTED",
  "TEXT_TOO_SHORT",
  "SLOT_NOT_FOUND",
  "SLOT_INVALID",
  "SLOT_MISMATCH",
  "SLOT_WRITE_FAILED",
] satisfies InferenceErrorCode[]);

/** The error that the native library describes as `CODE: message`, a line break, and what to do. */
export function nativeError(text: string | undefined, status: number): InferenceError {
  const [first = "", ...rest] = (text ?? `NATIVE_FAULT: the library answered ${status}`).split("\n");
  const match = /^([A-Z_]+): (.*)$/.exec(first);
  const named = match?.[1] === "INVALID_ARG" ? "INVALID_ARGUMENT" : match?.[1];
  const code =
    named !== undefined && (NATIVE_CODES.has(named) || named === "INVALID_ARGUMENT") ? named : "NATIVE_FAULT";
  return new InferenceError(code as InferenceErrorCode, match?.[2] ?? first, rest.join("\n"));
}
