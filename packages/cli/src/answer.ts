import type { StreamReport } from "eliza-inference";
import type { Answer } from "./engine.ts";
import type { Host } from "./host.ts";
import { onInterrupt } from "./interrupts.ts";
import { countText, durationText } from "./quantities.ts";
import { type Reporter, style } from "./reporter.ts";

export interface Answered {
  /** 0, or 130 when Ctrl-C stopped it. */
  status: number;
  text: string;
  report: StreamReport;
}

/** Streams one answer to stdout and its report to stderr. Ctrl-C stops the answer and keeps what was said. */
export async function answer(
  host: Host,
  start: (signal: AbortSignal) => Answer,
  reporter: Reporter,
): Promise<Answered> {
  const controller = new AbortController();
  let interrupted = false;
  const release = onInterrupt(() => {
    interrupted = true;
    controller.abort();
  });
  // Whoever reads the answer may go away, as head does.
  const readerGone = (): void => controller.abort();
  host.stdout.once("error", readerGone);
  let text = "";
  try {
    const stream = start(controller.signal);
    try {
      for await (const piece of stream) {
        text += piece.text;
        await reporter.piece(piece);
        if (controller.signal.aborted) break;
      }
    } catch (error) {
      if (!controller.signal.aborted) throw error;
    }
    if (!reporter.json && !host.stdout.destroyed) host.stdout.write("\n");
    const report = await stream.report();
    if (reporter.json) reporter.result("report", report, "");
    else reporter.note(style(host.stderr.isTTY, "2", reportText(report)));
    return { status: interrupted ? 130 : 0, text, report };
  } finally {
    release();
    host.stdout.off("error", readerGone);
  }
}

function cacheText({ map, exact, typeK, typeV, bytesPerToken }: NonNullable<StreamReport["kv"]>): string {
  const through = map ? ` through map ${map.statisticsSha256.slice(0, 8)}` : "";
  const { tokens, sinks } = exact;
  const kept = tokens + sinks > 0 ? `, exact ${tokens} + ${sinks}` : "";
  return `K ${typeK}, V ${typeV}${through}${kept}: ${countText(bytesPerToken)} KV bytes a token`;
}

/** The report in two lines for people; runtimes other than llama.cpp say nothing of their cache. */
export function reportText(report: StreamReport): string {
  const { timing } = report;
  const kv = report.kv as StreamReport["kv"] | undefined;
  const where = [`${report.runtime} ${report.runtimeVersion}`, report.device];
  const speed = timing.decodeTokens > 1 ? ` at ${timing.tokensPerSecond.toFixed(1)} a second` : "";
  return [
    [...where, ...(kv ? [cacheText(kv)] : [])].join(" · "),
    [
      `${countText(timing.promptTokens)} prompt tokens${timing.reusedTokens > 0 ? ` after ${countText(timing.reusedTokens)} kept` : ""}`,
      `first token after ${durationText(timing.timeToFirstTokenMs)}`,
      `${countText(timing.decodeTokens)} ${timing.decodeTokens === 1 ? "token" : "tokens"}${speed}`,
      report.finishReason,
    ].join(" · "),
  ].join("\n");
}
