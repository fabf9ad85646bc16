import { createHash } from "node:crypto";
import { access, constants, mkdir, readFile, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { diskError } from "@eliza-inference/fetch";
import { checkOptions, type Rules } from "../arguments/check.ts";
import { callback, integer, name, signal } from "../arguments/rule.ts";
import { InferenceError } from "../errors.ts";
import { resolveModel } from "../models/index.ts";
import { loadLibrary } from "../native/load-library.ts";
import { packageFile } from "../package-file.ts";
import { mapOfUser } from "./map-files.ts";
import { weightsHash } from "./weights-hash.ts";

/** Prose, dialogue, code, JSON and several languages, written for this. */
export function calibrationTextPath(): string {
  return packageFile("../data/calibration.txt");
}

const defaultTokens = 2048;

export interface CalibrateOptions {
  /** A text file to look at in place of the one that comes with the package. */
  textPath?: string;
  /** Tokens to look at, rounded down to whole windows. Defaults to 2,048, or one window: 24,576 gave hardly better maps (docs/learned-maps.md). */
  tokens?: number;
  /** Tokens that the model sees at once. Defaults to 2,048; contexts of any length can use the result. */
  contextSize?: number;
  /**
   * The exact window that the maps are for: pairs that it reads as f16 are left out of the statistics. Defaults to the
   * cache's own, 128 and 4, and to 0 where contextSize is below 528. The maps serve other windows too.
   */
  exactTokens?: number;
  exactSinks?: number;
  /** Where the result goes. Defaults to the user's folder, where `kvMap: "auto"` finds it. */
  outPath?: string;
  threads?: number;
  /** Stops between two pieces of a few hundred tokens; nothing is written. */
  signal?: AbortSignal;
  onProgress?: (progress: { done: number; total: number }) => void;
  /** The native library's file. Defaults to ELIZA_INFERENCE_LIBRARY, the platform package's or the built one. */
  libraryPath?: string;
}

const calibrateRules: Rules<CalibrateOptions> = {
  textPath: name,
  tokens: integer(1),
  contextSize: integer(1),
  exactTokens: integer(0, 2 ** 24),
  exactSinks: integer(0, 2 ** 24),
  outPath: name,
  threads: integer(1, 512),
  signal,
  onProgress: callback(),
  libraryPath: name,
};

export interface Calibrated {
  path: string;
  bytes: number;
  tokens: number;
  modelSha256: string;
  textSha256: string;
  seconds: number;
}

/**
 * Looks at a model's keys, values and queries over a text and writes down their statistics, from which maps of its
 * cache are solved. Memory does not grow with the number of tokens.
 *
 * @param model as for Inference.open
 * @throws InferenceError MODEL_NOT_FOUND, MODEL_INVALID, MAP_UNSUPPORTED, TEXT_TOO_SHORT, INVALID_ARGUMENT,
 *   PERMISSION_DENIED, CANCELLED, NATIVE_LIBRARY_MISSING, ABI_MISMATCH
 */
export async function calibrate(model: string, given: CalibrateOptions = {}): Promise<Calibrated> {
  const started = performance.now();
  const options = checkOptions<CalibrateOptions>("calibrate", given, calibrateRules);
  const { path } = await resolveModel(model);
  const text = await readText(options.textPath ?? calibrationTextPath());
  const library = await loadLibrary(options.libraryPath);
  const modelSha256 = await weightsHash(path);
  const textSha256 = createHash("sha256").update(text).digest("hex");
  const outPath = resolve(options.outPath ?? mapOfUser(modelSha256));
  await checkWritable(dirname(outPath));
  const context = library.create(path);
  try {
    const calibration = await library.openCalibration(context, text, {
      tokens: options.tokens ?? Math.max(defaultTokens, options.contextSize ?? 0),
      ...(options.contextSize === undefined ? {} : { window: options.contextSize }),
      ...(options.threads === undefined ? {} : { threads: options.threads }),
      ...(options.exactTokens === undefined ? {} : { exact_tokens: options.exactTokens }),
      ...(options.exactSinks === undefined ? {} : { exact_sinks: options.exactSinks }),
    });
    try {
      let step = { done: 0, total: 0, finished: false };
      while (!step.finished) {
        if (options.signal?.aborted) throw cancelled(options.signal);
        step = await library.stepCalibration(calibration);
        options.onProgress?.({ done: step.done, total: step.total });
      }
      if (options.signal?.aborted) throw cancelled(options.signal);
      await library.saveCalibration(calibration, outPath, { model: modelSha256, text: textSha256 });
      const { size } = await stat(outPath);
      const seconds = (performance.now() - started) / 1000;
      return { path: outPath, bytes: size, tokens: step.done, modelSha256, textSha256, seconds };
    } finally {
      await library.closeCalibration(calibration);
    }
  } finally {
    await library.destroy(context);
  }
}

function cancelled(signal: AbortSignal): InferenceError {
  return new InferenceError(
    "CANCELLED",
    "the calibration was stopped",
    "Nothing was written; run it again.",
    {
      cause: signal.reason,
    },
  );
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    throw new InferenceError(
      "INVALID_ARGUMENT",
      `the text ${path} cannot be read: ${(cause as Error).message}`,
      "Give the path of a text file.",
      { cause },
    );
  }
}

async function checkWritable(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
    await access(folder, constants.W_OK);
  } catch (error) {
    const { code, message } = diskError(error, folder);
    throw new InferenceError(code, message, "Give another place for the result (outPath).", { cause: error });
  }
}
