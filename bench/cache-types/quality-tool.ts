import { spawn } from "node:child_process";
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";

/** A layer that keeps keys and values. */
export interface LayerShape {
  headDimK: number;
  headDimV: number;
  kvHeads: number;
  /** tokens that the layer looks back at; 0 for all */
  slidingWindow: number;
}

export interface ModelShape {
  layers: LayerShape[];
  vocabulary: number;
}

/** What a cache cost, over all positions scored so far. */
export interface Score {
  /** "K/V", or "K/V@1" with the scored positions decoded one at a time */
  cache: string;
  k: string;
  v: string;
  batch: number;
  /** the engine's types, which name their tile */
  typeK: string;
  typeV: string;
  chunks: number;
  positions: number;
  /** mean KL divergence from the reference, nats a token */
  kl: number;
  /** half of its 95 % interval */
  klHalfWidth: number;
  /** the mean of each 64 positions, in order */
  klBlocks: number[];
  /** the mean of log p_reference(next) - log p(next) of each 64 positions */
  lossBlocks: number[];
  /** share of positions whose likeliest token is the reference's */
  top1: number;
  perplexityRatio: number;
  /** measured: the cache's memory over its cells */
  bytesPerToken: number;
  /** of a sequence's whole cache, sliding windows, exact rows and cells without a token included */
  bytes: number;
  /** processor time of decoding, all threads and chunks */
  cpuSeconds: number;
  /** the same by the clock */
  wallSeconds: number;
}

export interface ReferenceScore {
  reference: string;
  chunks: number;
  positions: number;
  perplexity: number;
  bytesPerToken: number;
  bytes: number;
  cpuSeconds: number;
  wallSeconds: number;
}

export interface QualityRun {
  tool: string;
  model: string;
  chunksFile: string;
  scratch: string;
  /** a file to write the model to with its weights in float32; absent for the weights as they are */
  float32?: string;
  /** solved learned maps by name, each beginning with "map", for caches that end in + and that name */
  maps?: Readonly<Record<string, string>>;
  start: number;
  threads: number;
  /** chunks decoded side by side; 1 */
  streams?: number;
  caches: readonly string[];
  environment?: Record<string, string>;
  /** what eliza-quality printed elsewhere over the same chunks, in place of running it */
  from?: readonly string[];
  onModel?: (shape: ModelShape) => void;
  onReference?: (score: ReferenceScore) => void;
  /** a cache that does not fit the model */
  onRefused?: (cache: string) => void;
  /** after each chunk, with the running result */
  onScore: (score: Score) => void;
}

/** Runs eliza-quality and hands its results on as they come. Rejects with its message when it fails. */
export async function runQuality(run: QualityRun): Promise<void> {
  if (run.from) {
    for (const file of run.from) {
      for await (const line of createInterface({ input: createReadStream(file) })) handOn(line, run);
    }
    return;
  }
  const settings = [`start=${run.start}`, `threads=${run.threads}`, `scratch=${run.scratch}`];
  if (run.streams) settings.push(`streams=${run.streams}`);
  for (const [name, file] of Object.entries(run.maps ?? {})) settings.push(`${name}=${file}`);
  if (run.float32) settings.push(`float32=${run.float32}`);
  const child = spawn(run.tool, [run.model, run.chunksFile, ...settings, ...run.caches], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...run.environment },
  });
  let complaint = "";
  child.stderr.on("data", (chunk: Buffer) => {
    complaint = (complaint + chunk.toString("utf8")).slice(-4000);
  });
  const ended = new Promise<number | string>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => resolve(code ?? signal ?? "unknown"));
  });
  for await (const line of createInterface({ input: child.stdout })) handOn(line, run);
  const status = await ended;
  if (status !== 0) throw new Error(`${run.tool} ended with ${status}: ${complaint.trim()}`);
}

function handOn(line: string, run: QualityRun): void {
  const message = JSON.parse(line) as { model: ModelShape } | { refused: string } | ReferenceScore | Score;
  if ("model" in message) run.onModel?.(message.model);
  else if ("refused" in message) run.onRefused?.(message.refused);
  else if ("reference" in message) run.onReference?.(message);
  else run.onScore(message);
}
