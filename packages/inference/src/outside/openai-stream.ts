import { InferenceError } from "../errors.ts";
import type { FinishReason } from "../report.ts";
import type { StreamChunk } from "../token-stream.ts";

/** What a streamed completion has said so far beside its text. */
export interface Usage {
  promptTokens: number;
  decodeTokens: number;
  finishReason: FinishReason;
}

interface Event {
  choices?: { text?: string | null; delta?: { content?: string | null }; finish_reason?: string | null }[];
  usage?: { prompt_tokens?: number; completion_tokens?: number } | null;
  error?: { message?: string };
}

const reasons: Record<string, FinishReason> = { stop: "stop", length: "length", content_filter: "stop" };

/**
 * The text of a streamed completion as it comes. A stream that ends without its end is an error.
 *
 * @throws InferenceError CONNECTION_LOST, BACKEND_UNAVAILABLE
 */
export async function* readCompletion(
  response: Response,
  url: string,
  usage: Usage,
): AsyncGenerator<StreamChunk> {
  const { createParser } = await import("eventsource-parser");
  const events: string[] = [];
  const parser = createParser({ onEvent: ({ data }) => events.push(data) });
  const decoder = new TextDecoder();
  let isDone = false;
  const body = response.body;
  if (!body) throw cut(url);
  try {
    for await (const bytes of body) {
      parser.feed(decoder.decode(bytes, { stream: true }));
      for (const data of events.splice(0)) {
        if (data === "[DONE]") isDone = true;
        else if (!isDone) {
          const text = take(data, url, usage);
          if (text !== "") yield { text, tokens: [] };
        }
      }
    }
  } catch (cause) {
    if (cause instanceof InferenceError || (cause as Error).name === "AbortError") throw cause;
    throw cut(url, cause);
  }
  if (!isDone && usage.finishReason === "running") throw cut(url);
}

function take(data: string, url: string, usage: Usage): string {
  let event: Event;
  try {
    event = JSON.parse(data) as Event;
  } catch {
    throw broken(url, `it sent no JSON: ${data.slice(0, 80)}`);
  }
  if (event.error) throw broken(url, event.error.message ?? "it failed");
  if (event.usage) {
    usage.promptTokens = event.usage.prompt_tokens ?? usage.promptTokens;
    usage.decodeTokens = event.usage.completion_tokens ?? usage.decodeTokens;
  }
  const [choice] = event.choices ?? [];
  if (choice?.finish_reason) usage.finishReason = reasons[choice.finish_reason] ?? "stop";
  return choice?.delta?.content ?? choice?.text ?? "";
}

function broken(url: string, why: string): InferenceError {
  return new InferenceError("BACKEND_UNAVAILABLE", `${url}: ${why}`, "Look at the server's own log.");
}

function cut(url: string, cause?: unknown): InferenceError {
  const message = `${url}: the answer ended before its end`;
  return new InferenceError("CONNECTION_LOST", message, "Ask again.", { cause });
}
