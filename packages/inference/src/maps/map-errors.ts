import { InferenceError } from "../errors.ts";

export function invalidMap(path: string, why: string, cause?: unknown): InferenceError {
  return new InferenceError(
    "MAP_INVALID",
    `${path} is not a usable map file: ${why}`,
    "Calibrate the model again: eliza-inference calibrate MODEL",
    cause === undefined ? undefined : { cause },
  );
}

export function mapMismatch(path: string, what: string): InferenceError {
  return new InferenceError(
    "MAP_MISMATCH",
    `${path} does not fit this model: ${what}`,
    "Calibrate this model, or open it with the map off.",
  );
}
