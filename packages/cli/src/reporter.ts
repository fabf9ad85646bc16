import { once } from "node:events";
import type { Host } from "./host.ts";

export interface Failure {
  code: string;
  message: string;
  hint: string;
}

/** What a command says: text for people (results on stdout, the rest on stderr) or JSON lines on stdout. */
export interface Reporter {
  json: boolean;
  /** A result: `text` on stdout, or `value` as a JSON line with its `event`. */
  result(event: string, value: object, text: string): void;
  /** A piece of an answer, written as it comes. */
  piece(value: { text: string; tokens: readonly number[] }): Promise<void>;
  /** For people alone, on stderr. */
  note(text: string): void;
  failure(failure: Failure): void;
}

export function createReporter(host: Host, json: boolean): Reporter {
  const { stdout, stderr } = host;
  const line = (event: string, value: object): string => `${JSON.stringify({ event, ...value })}\n`;
  return {
    json,
    result: (event, value, text) => {
      if (json) stdout.write(line(event, value));
      else if (text !== "") stdout.write(`${text}\n`);
    },
    piece: async (value) => {
      if (stdout.write(json ? line("text", value) : value.text)) return;
      await Promise.race([once(stdout, "drain"), once(stdout, "close")]).catch(() => {});
    },
    note: (text) => {
      if (!json) stderr.write(`${text}\n`);
    },
    failure: ({ code, message, hint }) => {
      if (json) stdout.write(line("error", { code, message, hint }));
      else stderr.write(`${style(stderr.isTTY, "31", "error")} ${code}: ${message}\n${hint}\n`);
    },
  };
}

/** `text` in an ANSI style where there is a terminal and NO_COLOR does not forbid it. */
export function style(isTerminal: boolean | undefined, code: string, text: string): string {
  return isTerminal && !process.env.NO_COLOR ? `\x1b[${code}m${text}\x1b[0m` : text;
}

/** The code, message and hint of whatever was thrown. */
export function failureOf(error: unknown): Failure {
  if (!(error instanceof Error)) return { code: "INTERNAL", message: String(error), hint: reportIt };
  const code: unknown = Reflect.get(error, "code");
  const hint: unknown = Reflect.get(error, "hint");
  if (typeof code === "string" && typeof hint === "string") return { code, message: error.message, hint };
  const message = process.env.ELIZA_DEBUG ? (error.stack ?? error.message) : error.message;
  return { code: "INTERNAL", message, hint: reportIt };
}

const reportIt = "This is a fault of the program: run it again with ELIZA_DEBUG=1 and report what it says.";
