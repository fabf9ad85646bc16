import type { ChatMessage } from "../chat/index.ts";
import type { StreamOptions } from "../options.ts";
import type { FinishReason } from "../report.ts";
import type { StreamChunk } from "../token-stream.ts";

/** Whether an adapter can work on this machine, and why. */
export interface OutsideVerdict {
  available: boolean;
  reason: string;
}

/**
 * A runtime outside this process: a service of the system, a server, a cluster. It is opened by name alone and is never
 * chosen in place of one inside.
 */
export interface OutsideAdapter<Options> {
  readonly name: string;
  /** Looks at this machine; sends nothing. */
  detect(): OutsideVerdict;
  /** @throws InferenceError BACKEND_UNAVAILABLE with detect's reason; INVALID_ARGUMENT */
  open(options: Options): Promise<OutsideModel>;
}

/** What is known of a model outside. */
export interface OutsideReport {
  runtime: string;
  /** where it answers, such as a server's address */
  place: string;
  model: string;
  /** option names that it takes; others are refused by their name */
  capabilities: string[];
}

/** The same with what one generation took. Counts are the other side's, 0 where it gives none. */
export interface OutsideStreamReport extends OutsideReport {
  timing: {
    promptTokens: number;
    decodeTokens: number;
    timeToFirstTokenMs: number;
    decodeMs: number;
    tokensPerSecond: number;
  };
  finishReason: FinishReason;
  /** requests that failed before one was answered */
  retries: number;
}

/** One generation outside: iterated like a TokenStream. Token ids are not known there, so `tokens` stays empty. */
export interface OutsideStream extends AsyncIterableIterator<StreamChunk, undefined> {
  text(): Promise<string>;
  report(): OutsideStreamReport;
}

export interface OutsideModel {
  /** Generates from a prompt as it stands, or from messages. Nothing is sent before the first read. */
  stream(prompt: string | readonly ChatMessage[], options?: StreamOptions): OutsideStream;
  report(): OutsideReport;
  /** Stops every stream. Safe to call twice. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
