import type {
  Calibrated,
  ChatMessage,
  GenerateOptions,
  InferenceReport,
  OpenOptions,
  StreamOptions,
  StreamReport,
} from "eliza-inference";

export interface Answer extends AsyncIterable<{ text: string; tokens: readonly number[] }> {
  report(): Promise<StreamReport>;
}

/** A conversation that the model need not read again at each turn. */
export interface OpenSession {
  generate(messages: readonly ChatMessage[], options?: GenerateOptions): Answer;
  close(): Promise<void>;
}

export interface OpenModel {
  session(options?: Omit<StreamOptions, "signal" | "chat">): Promise<OpenSession>;
  stream(prompt: string | readonly ChatMessage[], options?: StreamOptions): Answer;
  report(): InferenceReport;
  /** What `kvMap: "make"` makes, once it is written. */
  madeMap(): Promise<Calibrated | undefined>;
  close(): Promise<void>;
}

/** What the commands need of the library, so that tests can put something else in its place. */
export interface Engine {
  open(path: string, options: OpenOptions): Promise<OpenModel>;
}
