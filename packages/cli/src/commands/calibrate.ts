import { calibrate } from "eliza-inference";
import { type CommandLine, UsageError } from "../command-line.ts";
import type { Host } from "../host.ts";
import { onInterrupt } from "../interrupts.ts";
import { createProgress } from "../progress.ts";
import { bytesText, countText, durationText } from "../quantities.ts";
import type { Reporter } from "../reporter.ts";

/** `calibrate MODEL`; returns the exit status. */
export async function calibrateModel(host: Host, line: CommandLine, reporter: Reporter): Promise<number> {
  const [model, ...more] = line.operands;
  if (model === undefined || more.length > 0) {
    throw new UsageError(
      model === undefined ? "calibrate needs a model" : "calibrate takes one model",
      "Give a known name, a .gguf file or a bundle; see: eliza-inference models",
    );
  }
  const controller = new AbortController();
  const release = onInterrupt(() => controller.abort());
  const progress = createProgress(host.stderr, reporter.json);
  const [textPath, outPath] = [line.text("text"), line.text("out")];
  const [tokens, contextSize, threads] = [
    line.number("tokens"),
    line.number("context"),
    line.number("threads"),
  ];
  const [exactTokens, exactSinks] = [line.number("exact-tokens"), line.number("exact-sinks")];
  try {
    const done = await calibrate(model, {
      ...(textPath === undefined ? {} : { textPath }),
      ...(outPath === undefined ? {} : { outPath }),
      ...(tokens === undefined ? {} : { tokens }),
      ...(contextSize === undefined ? {} : { contextSize }),
      ...(threads === undefined ? {} : { threads }),
      ...(exactTokens === undefined ? {} : { exactTokens }),
      ...(exactSinks === undefined ? {} : { exactSinks }),
      signal: controller.signal,
      onProgress: (at) => {
        progress.update(`calibrating ${model}`, at.done, at.total, "tokens");
        if (reporter.json) reporter.result("progress", at, "");
      },
    });
    progress.stop();
    reporter.note(
      `${bytesText(done.bytes)} from ${countText(done.tokens)} tokens in ${durationText(done.seconds * 1000)}`,
    );
    reporter.result("calibrated", done, done.path);
    return 0;
  } finally {
    progress.stop();
    release();
  }
}
