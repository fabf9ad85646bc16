import type { OpenOptions } from "eliza-inference";
import type { OpenModel } from "./engine.ts";
import type { Host } from "./host.ts";
import { onInterrupt } from "./interrupts.ts";
import { createProgress } from "./progress.ts";
import type { Reporter } from "./reporter.ts";

/** A load that takes no longer is not worth a bar. */
const quietMs = 700;

/** Opens a model; Ctrl-C stops that. Says what a person should know of how it was opened. */
export async function openModel(
  host: Host,
  path: string,
  options: OpenOptions,
  reporter: Reporter,
): Promise<OpenModel> {
  const controller = new AbortController();
  const began = performance.now();
  const bar = createProgress(host.stderr, reporter.json || !host.stderr.isTTY);
  const release = onInterrupt(() => controller.abort());
  try {
    const onProgress = (loaded: number): void => {
      if (performance.now() - began > quietMs) bar.update("loading", Math.round(loaded * 100), 100, "steps");
    };
    const opened = await host.engine.open(path, { ...options, onProgress, signal: controller.signal });
    const { context, model } = opened.report();
    if (context.beyondTrained > 0) {
      reporter.note(
        `a context of ${context.size} tokens is more than the ${model.trainedContext} that the model was trained on: behind them answers may lose their sense`,
      );
    }
    return opened;
  } finally {
    bar.stop();
    release();
  }
}
