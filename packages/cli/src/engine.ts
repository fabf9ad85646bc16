import type { ChatMessage, InferenceReport, OpenOptions, StreamOptions, StreamReport } from "eliza-inference";

export interface Answer extends AsyncIterable<{ text: string; tokens: readonly number[] }> {
  report(): Promise<StreamReport>;
}

export interface OpenModel {
  stream(prompt: string | readonly ChatMessage[], options?: StreamOptions): Answer;
  report(): InferenceReport;
  close(): Promise<void>;
}

/** What the commands need of the library, so that tests can put something else in its place. */
export interface Engine {
  open(path: string, options: OpenOptions): Promise<OpenModel>;
}
