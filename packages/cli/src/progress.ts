import cliProgress from "cli-progress";
import type { Output } from "./host.ts";
import { bytesText, countText, durationText } from "./quantities.ts";

export type ProgressUnit = "bytes" | "steps" | "tokens";

export interface Progress {
  /** `unit` "bytes" shows amounts and speed, the others counts. */
  update(label: string, value: number, total: number, unit: ProgressUnit): void;
  /** A line above the bar. */
  note(text: string): void;
  stop(): void;
}

const lineEveryMs = 3_000;

/** A bar on a terminal; elsewhere a plain line every few seconds; nothing when `silent`. */
export function createProgress(output: Output, silent: boolean): Progress {
  if (silent) return { update: () => {}, note: () => {}, stop: () => {} };
  return output.isTTY ? barProgress(output) : lineProgress(output);
}

function lineProgress(output: Output): Progress {
  let last = performance.now();
  let label = "";
  return {
    update: (text, value, total, unit) => {
      const now = performance.now();
      const isNew = text !== label;
      if (!isNew && now - last < lineEveryMs) return;
      last = now;
      label = text;
      output.write(`${text}: ${percent(value, total)} % of ${amount(total, unit)}\n`);
    },
    note: (text) => output.write(`${text}\n`),
    stop: () => {},
  };
}

function barProgress(output: Output): Progress {
  let bar: cliProgress.SingleBar | undefined;
  let label = "";
  let startedAt = 0;
  let startValue = 0;
  const stop = (): void => {
    bar?.stop();
    bar = undefined;
    label = "";
  };
  return {
    update: (text, value, total, unit) => {
      if (text !== label || !bar) {
        stop();
        label = text;
        startedAt = performance.now();
        startValue = value;
        bar = new cliProgress.SingleBar({
          stream: output,
          barsize: Math.max(10, Math.min(32, (output.columns ?? 80) - 52)),
          barCompleteChar: "█",
          barIncompleteChar: "░",
          hideCursor: true,
          clearOnComplete: false,
          gracefulExit: false,
          format: (options, params, payload) => {
            const rest = String(payload.rest ?? "");
            const drawn = cliProgress.Format.BarFormat(params.progress, options);
            return `${text} ${drawn} ${percent(params.value, params.total).padStart(3)} % ${rest}`;
          },
        });
        bar.start(total, value, { rest: "" });
      }
      bar.setTotal(total);
      bar.update(value, {
        rest: remaining(value - startValue, total - value, performance.now() - startedAt, unit),
      });
    },
    note: (text) => {
      stop();
      output.write(`${text}\n`);
    },
    stop,
  };
}

function remaining(done: number, left: number, elapsedMs: number, unit: ProgressUnit): string {
  if (elapsedMs < 500 || done <= 0) return "";
  const perMs = done / elapsedMs;
  const speed = unit === "bytes" ? `${bytesText(perMs * 1000)}/s, ` : "";
  return left > 0 ? `${speed}${durationText(left / perMs)} left` : speed.replace(", ", "");
}

function percent(value: number, total: number): string {
  return String(total > 0 ? Math.floor((100 * value) / total) : 0);
}

function amount(total: number, unit: ProgressUnit): string {
  return unit === "bytes" ? bytesText(total) : `${countText(total)} ${unit}`;
}
