import { basename } from "node:path";
import {
  type ChatMessage,
  InferenceError,
  type InferenceReport,
  type OpenOptions,
  type StreamOptions,
  type StreamReport,
} from "eliza-inference";
import type { Answer, Engine } from "../src/index.ts";

/**
 * An engine that answers with what it was given, as JSON. By the model's file name: base.gguf has no chat
 * template, slow.gguf says "tick " until it is stopped, large.gguf cannot be opened.
 */
export const fakeEngine: Engine = {
  open: async (path, openOptions) => {
    const name = basename(path);
    if (name === "large.gguf") {
      throw new InferenceError(
        "OUT_OF_MEMORY",
        "8.0 GB were needed, 2.0 GB are free",
        "Use --ctx-size 1024.",
      );
    }
    if (name === "options.gguf") {
      const message = "topP has no effect at temperature 0";
      throw new InferenceError("INVALID_ARGUMENT", message, "leave topP out, or contextSize.");
    }
    if (name === "broken.gguf") throw new TypeError("a fault of ours");
    const report = reportOf(path, name === "base.gguf" ? "" : "a template", openOptions.cacheTypeK ?? "f16");
    return {
      report: () => ({ ...report, preset: presetOf(openOptions), hint: null }),
      session: async (options = {}) => ({
        generate: (messages, { signal } = {}) =>
          name === "slow.gguf"
            ? ticking(report, { ...options, ...(signal ? { signal } : {}) })
            : echo(report, messages, { openOptions, options }),
        close: async () => undefined,
      }),
      stream: (input, options = {}) =>
        name === "slow.gguf" ? ticking(report, options) : echo(report, input, { openOptions, options }),
      madeMap: async () => {
        if (openOptions.kvMap !== "make") return undefined;
        await new Promise((resolve) => setTimeout(resolve, 150));
        if (name === "mapless.gguf")
          throw new InferenceError("MAP_UNSUPPORTED", "no map fits", "Do without.");
        return { path: "/maps/x.kvmap", bytes: 1, tokens: 2, modelSha256: "", textSha256: "", seconds: 3 };
      },
      close: async () => {
        if (process.env.FAKE_SAYS_CLOSED) process.stderr.write("closed\n");
      },
    };
  },
};

function presetOf({ cache }: OpenOptions): InferenceReport["preset"] {
  return cache === undefined ? null : { name: cache, why: "the test says so" };
}

function echo(report: StreamReport, input: string | readonly ChatMessage[], rest: object): Answer {
  const text = JSON.stringify({ input, ...rest }, (key, value) => (key === "signal" ? undefined : value));
  return {
    report: async () => report,
    async *[Symbol.asyncIterator]() {
      const half = Math.floor(text.length / 2);
      yield { text: text.slice(0, half), tokens: [1, 2] };
      yield { text: text.slice(half), tokens: [3] };
    },
  };
}

function ticking(report: StreamReport, options: StreamOptions): Answer {
  const stopped: StreamReport = { ...report, finishReason: "cancelled" };
  return {
    report: async () => stopped,
    async *[Symbol.asyncIterator]() {
      for (;;) {
        if (options.signal?.aborted)
          throw new InferenceError("CANCELLED", "the generation was cancelled", "");
        yield { text: "tick ", tokens: [7] };
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
  };
}

function reportOf(path: string, chatTemplate: string, typeK: string): StreamReport {
  return {
    abi: "14",
    runtime: "fake",
    runtimeVersion: "1.0",
    capabilities: [],
    device: "CPU (none)",
    candidates: [],
    model: {
      path,
      name: "fake",
      architecture: "fake",
      licence: "MIT",
      description: "",
      bytes: 1,
      parameters: 1,
      layers: 1,
      trainedContext: 8,
      slidingWindow: 0,
      vocabulary: 8,
      chatTemplate,
      bosToken: "",
      eosToken: "",
      addBos: false,
    },
    context: {
      ...{ size: 8, beyondTrained: 0, used: 3, batchSize: 8, ubatchSize: 8, batchTokens: 8, maxStreams: 1 },
      ...{ threads: 1, threadsReason: "asked for" },
    },
    kv: {
      typeK,
      typeV: "f16",
      graphRotationK: false,
      graphRotationV: false,
      map: null,
      exact: { tokens: 0, sinks: 0, rowsPerStream: 0, bytes: 0, reason: "neither K nor V is coded" },
      bytesPerToken: 12_345,
      bytesComputed: 98_760,
      bytesTotal: 98_760,
      caches: [],
      layersSharingKv: [],
      recurrentLayers: [],
      differences: [],
      kernels: "none",
    },
    timing: {
      promptTokens: 4,
      reusedTokens: 0,
      prefillMs: 10,
      timeToFirstTokenMs: 12,
      decodeTokens: 3,
      decodeMs: 100,
      tokensPerSecond: 20,
    },
    finishReason: "stop",
    speculation: { drafted: 0, accepted: 0 },
    stopSequence: null,
  };
}
