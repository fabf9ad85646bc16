import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { InferenceError } from "eliza-inference";
import { answer } from "./answer.ts";
import { UsageError } from "./command-line.ts";
import { pullWithProgress } from "./commands/pull.ts";
import type { Host } from "./host.ts";
import { openModel } from "./open-model.ts";
import { createProgress } from "./progress.ts";
import { createReporter, failureOf, type Reporter, style } from "./reporter.ts";

const defaultModel = "smollm2-135m";
const defaultQuestion = "In two sentences: why is the sky blue?";
const offlineQuestion = "The code of the red box is 7352. What is the code of the red box?";
const cacheType = "turbo4";

/** The steps that take a network or minutes, so that tests can do without them. */
export interface FirstSteps {
  /** Builds the native library when it is not there; its path, or undefined to have it looked for. */
  buildNative(
    onStage: (line: string) => void,
    onStep: (step: number, of: number) => void,
  ): Promise<string | undefined>;
  /** Brings the default model here and returns its path. */
  pullDefault(): Promise<string>;
  /** The folder with the small model that comes with the repository. */
  picoFolder: string;
}

export function realSteps(host: Host, reporter: Reporter): FirstSteps {
  return {
    buildNative: async (onStage, onStep) => {
      if (process.env.ELIZA_INFERENCE_LIBRARY) return undefined;
      const { ensureNativeLibrary } = await import("@eliza-inference/build");
      return (await ensureNativeLibrary({ onStage, onProgress: ({ step, of }) => onStep(step, of) })).library;
    },
    pullDefault: async () => (await pullWithProgress(host, defaultModel, reporter)).path,
    picoFolder: fileURLToPath(new URL("../../../models/pico", import.meta.url)),
  };
}

/**
 * What `npm start` does: builds the library if need be, fetches a model, streams an answer through a compressed
 * cache and prints the report. With `--offline`, or when no source answers, the repository's own small model is
 * used. Returns the exit status; never throws.
 */
export async function firstAnswer(
  args: readonly string[],
  host: Host,
  reporter = createReporter(host, false),
  steps = realSteps(host, reporter),
): Promise<number> {
  try {
    const { offline, question } = readArguments(args);
    const libraryPath = await build(host, steps);
    const model = offline ? await findPico(steps.picoFolder) : await pullOrPico(steps, reporter);
    const library = libraryPath === undefined ? {} : { libraryPath };
    const types = { cacheTypeK: cacheType, cacheTypeV: cacheType };
    const opened = await openModel(host, model.path, { ...types, ...library }, reporter);
    try {
      const text = question ?? (model.isPico ? offlineQuestion : defaultQuestion);
      reporter.note(`\n${style(host.stderr.isTTY, "1", `> ${text}`)}`);
      const input = opened.report().model.chatTemplate ? [{ role: "user" as const, content: text }] : text;
      const start = (signal: AbortSignal) => opened.stream(input, { maxTokens: 256, signal });
      const { status } = await answer(host, start, reporter);
      if (status === 0) reporter.note(`\nGo on: npm run eliza-inference -- run ${model.name}`);
      return status;
    } finally {
      await opened.close();
    }
  } catch (error) {
    const failure = failureOf(error);
    reporter.failure(failure);
    if (error instanceof UsageError) return 2;
    return failure.code === "CANCELLED" ? 130 : 1;
  }
}

function readArguments(args: readonly string[]): { offline: boolean; question: string | undefined } {
  try {
    const options = { offline: { type: "boolean", default: false } } as const;
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    return { offline: values.offline, question: positionals.join(" ") || undefined };
  } catch (error) {
    const message = error instanceof Error ? error.message.split(". ")[0] : "";
    throw new UsageError(message ?? "", 'Usage: npm start -- [--offline] ["a question"]');
  }
}

async function build(host: Host, steps: FirstSteps): Promise<string | undefined> {
  const progress = createProgress(host.stderr, false);
  try {
    return await steps.buildNative(
      (line) => progress.note(`native library: ${line}`),
      (step, of) => progress.update("building", step, of, "steps"),
    );
  } finally {
    progress.stop();
  }
}

interface FoundModel {
  path: string;
  /** What `run` takes for it. */
  name: string;
  isPico: boolean;
}

async function pullOrPico(steps: FirstSteps, reporter: Reporter): Promise<FoundModel> {
  try {
    return { path: await steps.pullDefault(), name: defaultModel, isPico: false };
  } catch (error) {
    const { code, message } = failureOf(error);
    if (["CANCELLED", "DISK_FULL", "PERMISSION_DENIED", "DISK_ERROR", "INTERNAL"].includes(code)) throw error;
    const pico = await findPico(steps.picoFolder).catch(() => undefined);
    if (!pico) throw error;
    reporter.note(
      `${message}\n${defaultModel} could not be fetched: the repository's own small model answers instead`,
    );
    return pico;
  }
}

async function findPico(folder: string): Promise<FoundModel> {
  const files = (await readdir(folder).catch((): string[] => [])).filter((file) => file.endsWith(".gguf"));
  const [first] = files.sort();
  if (first === undefined) {
    const hint = "Run npm start without --offline to fetch a model.";
    throw new InferenceError("MODEL_NOT_FOUND", `${folder} holds no .gguf file`, hint);
  }
  const path = join(folder, first);
  return { path, name: path, isPico: true };
}
