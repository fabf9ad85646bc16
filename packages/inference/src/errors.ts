import type { FetchErrorCode } from "@eliza-inference/fetch";

export type InferenceErrorCode =
  | "INVALID_ARGUMENT"
  | "MODEL_NOT_FOUND"
  | "MODEL_INVALID"
  | "MODEL_NOT_LOADED"
  | "CHAT_TEMPLATE_MISSING"
  | "CHAT_TEMPLATE_INVALID"
  | "CHAT_REFUSED"
  | "CACHE_TYPE_UNSUPPORTED"
  | "BACKEND_UNAVAILABLE"
  | "OUT_OF_MEMORY"
  | "CONTEXT_FULL"
  | "CONTEXT_FAILED"
  | "NATIVE_LIBRARY_MISSING"
  | "PACKAGE_INCOMPLETE"
  | "NATIVE_FAULT"
  | "NUMERIC_FAULT"
  | "NOT_IMPLEMENTED"
  | "MAP_NOT_FOUND"
  | "MAP_INVALID"
  | "MAP_MISMATCH"
  | "MAP_UNSUPPORTED"
  | "TEXT_TOO_SHORT"
  | "SLOT_NOT_FOUND"
  | "SLOT_INVALID"
  | "SLOT_MISMATCH"
  | "SLOT_WRITE_FAILED"
  | "ABI_MISMATCH"
  | "CLOSED"
  | FetchErrorCode;

/**
 * What went wrong, with a stable `code` and a `hint` that says what to do. Its `name` is InferenceError, and AbortError
 * where the code is CANCELLED, as callers of abortable functions expect.
 */
export class InferenceError extends Error {
  override readonly name: "InferenceError" | "AbortError";
  readonly code: InferenceErrorCode;
  readonly hint: string;

  constructor(code: InferenceErrorCode, message: string, hint: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = code === "CANCELLED" ? "AbortError" : "InferenceError";
    this.code = code;
    this.hint = hint;
  }
}
