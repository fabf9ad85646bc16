import { InferenceError } from "../errors.ts";

/** The error for a file that is not what a GGUF file must be. */
export function malformed(path: string, why: string): InferenceError {
  return new InferenceError(
    "MODEL_INVALID",
    `${path} is not a usable GGUF model: ${why}`,
    "Fetch the file again and compare its sha256 with the one its source states.",
  );
}
