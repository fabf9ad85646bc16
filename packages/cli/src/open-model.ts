import type { OpenOptions } from "eliza-inference";
import type { OpenModel } from "./engine.ts";
import type { Host } from "./host.ts";
import { onInterrupt } from "./interrupts.ts";
import type { Reporter } from "./reporter.ts";

/** Opens a model; Ctrl-C stops that. Says what a person should know of how it was opened. */
export async function openModel(
  host: Host,
  path: string,
  options: OpenOptions,
  reporter: Reporter,
): Promise<OpenModel> {
  const controller = new AbortController();
  const release = onInterrupt(() => controller.abort());
  try {
    const opened = await host.engine.open(path, { ...options, signal: controller.signal });
    const { context, model } = opened.report();
    if (model.trainedContext > 0 && context.size > model.trainedContext) {
      reporter.note(
        `a context of ${context.size} tokens is more than the ${model.trainedContext} that the model was trained on: behind them answers may lose their sense`,
      );
    }
    return opened;
  } finally {
    release();
  }
}
