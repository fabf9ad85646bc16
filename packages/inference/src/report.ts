import type { CachePreset } from "./cache-presets.ts";

/** One layer's share of the cache, as it was allocated. */
export interface LayerCache {
  layer: number;
  kind: "full" | "sliding-window";
  /** tokens that the layer looks back at; 0 for all */
  window: number;
  kvHeads: number;
  headDimK: number;
  headDimV: number;
  /** type of the keys */
  k: string;
  /** values that are coded together */
  kTile: number;
  /** width of the Hadamard matrix that the graph turns keys and queries with before they are coded; 0 for none */
  kRotation: number;
  kBytesPerToken: number;
  /** type of the values; null where the model keeps one row for both */
  v: string | null;
  vTile: number;
  vRotation: number;
  vBytesPerToken: number;
}

/** A layer without a cache of its own. */
export interface SharedLayer {
  layer: number;
  kind: "full" | "sliding-window";
  /** the layer whose keys and values it looks at; null if the runtime does not say */
  from: number | null;
}

/** Something that is not as it was asked. */
export interface CacheDifference {
  layer: number;
  side: "K" | "V";
  asked: string;
  used: string;
  reason: string;
}

/** What really runs: read back from the runtime, never from what was asked. */
export interface RuntimeReport {
  abi: string;
  runtime: string;
  runtimeVersion: string;
  /** what its sessions can do beyond generating; what is not listed is refused by its name */
  capabilities: string[];
  device: string;
  /** devices that a runtime with a ladder of them looked at, in order, and why each is used or not */
  accelerators?: { name: string; used: boolean; reason: string }[];
  /** every runtime that was looked at, and why it was taken or not */
  candidates: { runtime: string; chosen: boolean; reason: string }[];
  model: {
    path: string;
    name: string;
    architecture: string;
    licence: string;
    description: string;
    bytes: number;
    parameters: number;
    layers: number;
    trainedContext: number;
    slidingWindow: number;
    vocabulary: number;
    chatTemplate: string;
    bosToken: string;
    eosToken: string;
    addBos: boolean;
    /** tokens that text of users must not become, of a runtime whose model file is not read here */
    controlTokens?: { id: number; text: string }[];
  };
  context: {
    /** tokens a stream can hold */
    size: number;
    /** of them, how many are beyond what the model was trained on: there answers may lose their sense */
    beyondTrained: number;
    used: number;
    batchSize: number;
    ubatchSize: number;
    /** tokens that a batch may hold now: fewer than ubatchSize where the processor is slow, so that cancelling is quick */
    batchTokens: number;
    threads: number;
    /** why as many: the process's affinity, a CPU quota, the machine, or because it was asked for */
    threadsReason: string;
    maxStreams: number;
  };
  /** of llama.cpp; runtimes whose cache is the model's affair leave it out */
  kv: {
    typeK: string;
    typeV: string;
    /** whether the graph turns K (V) of any layer before it is coded, as the cache says */
    graphRotationK: boolean;
    graphRotationV: boolean;
    /** the learned map, if the cache is seen through one */
    map: {
      /** the solved map's file */
      path: string;
      sha256: string;
      /** of the file that calibrate wrote */
      statisticsSha256: string;
      /** tokens that it is spread over */
      contextSize: number;
      /** the exact window that it was made for; it serves any other too, and gains a little less there */
      exactTokens: number;
      exactSinks: number;
      keys: boolean;
      values: boolean;
      /** of its matrices in memory */
      bytes: number;
    } | null;
    /** the exact window: tokens of each sequence that are kept as f16 beside the coded ones */
    exact: {
      /** the latest ones; 0 without a window */
      tokens: number;
      /** the first ones */
      sinks: number;
      /** f16 rows that one stream has in a layer: the window and a few to spare, at most one a cell */
      rowsPerStream: number;
      /** of all rows, part of bytesTotal */
      bytes: number;
      /** why there is none */
      reason: string | null;
    };
    /** K and V of one token over all layers, by the formats' layout */
    bytesPerToken: number;
    /** the whole cache, by the formats' layout and the cells of each layer */
    bytesComputed: number;
    /** the whole cache, as the runtime allocated it */
    bytesTotal: number;
    caches: {
      kind: "full" | "sliding-window";
      cells: number;
      streams: number;
      bytes: number;
      layers: LayerCache[];
    }[];
    layersSharingKv: SharedLayer[];
    /** layers that keep a state of fixed size instead */
    recurrentLayers: number[];
    /** empty when every layer has what was asked */
    differences: CacheDifference[];
    /** the instruction set of the cache kernels */
    kernels: string;
  };
}

/** What runs, and how it came to be chosen. */
export interface InferenceReport extends RuntimeReport {
  /** what the option `cache` chose, and why; null without it */
  preset: { name: CachePreset; why: string } | null;
  /** what would make this cache lose less, with the line to run; null if there is nothing */
  hint: string | null;
}

export type FinishReason = "none" | "running" | "stop" | "length" | "context" | "error" | "cancelled";

/** What one generation took. */
export interface GenerationReport {
  timing: {
    promptTokens: number;
    /** tokens that were in the cache already */
    reusedTokens: number;
    prefillMs: number;
    /** from the hand-over of the prompt to the first token's arrival in the queue */
    timeToFirstTokenMs: number;
    decodeTokens: number;
    /** from the first token to the last */
    decodeMs: number;
    tokensPerSecond: number;
  };
  /** "none" before a prompt, "running" until it has ended */
  finishReason: FinishReason;
  /** the stop string that ended it */
  stopSequence: string | null;
  /** tokens that the runtime guessed ahead for this generation, and how many of them were right */
  speculation: { drafted: number; accepted: number };
}

/** What runs, and what one generation took. */
export interface StreamReport extends RuntimeReport, GenerationReport {}
