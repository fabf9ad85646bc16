import { createInterface } from "node:readline";
import type { ChatMessage, StreamOptions } from "eliza-inference";
import { answer } from "./answer.ts";
import type { OpenModel, OpenSession } from "./engine.ts";
import type { Host } from "./host.ts";
import { bracketedPaste, PastedLines, withBreaks } from "./pasted-lines.ts";
import { failureOf, type Reporter } from "./reporter.ts";

/**
 * A conversation on a terminal. Ctrl-C stops an answer; at the prompt it ends the conversation, as Ctrl-D does.
 * Returns the exit status.
 */
export async function converse(
  host: Host,
  model: OpenModel,
  before: readonly ChatMessage[],
  options: StreamOptions,
  reporter: Reporter,
): Promise<number> {
  reporter.note("/new begins anew, /exit or Ctrl-D ends, Ctrl-C stops an answer");
  const session = await model.session(options);
  try {
    return await exchange(host, session, before, reporter);
  } finally {
    await session.close();
  }
}

async function exchange(
  host: Host,
  session: OpenSession,
  before: readonly ChatMessage[],
  reporter: Reporter,
): Promise<number> {
  let messages: ChatMessage[] = [...before];
  let history: string[] = [];
  for (;;) {
    const said = await ask(host, history, (lines) => {
      history = lines;
    });
    if (said === "interrupted") return 130;
    if (said === undefined) {
      reporter.note("");
      return 0;
    }
    const text = said.line.trim();
    if (text === "") continue;
    if (text === "/exit" || text === "/quit") return 0;
    if (text === "/new") {
      messages = [...before];
      continue;
    }
    messages.push({ role: "user", content: said.line });
    let isFull = false;
    try {
      const answered = await answer(host, (signal) => session.generate(messages, { signal }), reporter);
      messages.push({ role: "assistant", content: answered.text });
      isFull = answered.report.finishReason === "context";
    } catch (error) {
      // A question that went wrong, such as one too long for the context, does not end the conversation.
      messages.pop();
      const failure = failureOf(error);
      reporter.failure(failure);
      isFull = failure.code === "CONTEXT_FULL";
    }
    if (isFull) reporter.note("the context is full: /new begins anew; --ctx-size N makes it larger");
    reporter.note("");
  }
}

// A readline for each question: while an answer streams, Ctrl-C must reach the process as a signal.
async function ask(
  host: Host,
  history: string[],
  onHistory: (lines: string[]) => void,
): Promise<{ line: string } | "interrupted" | undefined> {
  const keys = new PastedLines(host.stdin);
  host.stdin.pipe(keys);
  host.stderr.write(bracketedPaste.on);
  const lines = createInterface({ input: keys, output: host.stderr, terminal: true, history });
  lines.on("history", onHistory);
  try {
    return await new Promise((resolve) => {
      lines.once("SIGINT", () => {
        host.stderr.write("\n");
        resolve("interrupted");
      });
      lines.once("close", () => resolve(undefined));
      lines.question("> ", (line) => resolve({ line: withBreaks(line) }));
    });
  } finally {
    lines.close();
    host.stderr.write(bracketedPaste.off);
    host.stdin.unpipe(keys);
    host.stdin.pause();
  }
}
