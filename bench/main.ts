/** `npm run bench -- NAME [--json]`: runs a benchmark and prints ratios against its peers in the same run. */
const benchmarks: Record<
  string,
  { what: string; load: () => Promise<{ run(args: string[]): Promise<void> }> }
> = {
  kernels: {
    what: "GB/s of compressed rows that each score kernel reads on a GPU, against copies",
    load: () => import("./kernels/kernels.ts"),
  },
  "attention-gpu": {
    what: "decode attention over compressed caches on an NVIDIA GPU, against PyTorch's bf16 attention",
    load: () => import("./attention-gpu/attention-gpu.ts"),
  },
  overhead: {
    what: "tokens per second through the async iterator, against a C loop and node-llama-cpp",
    load: () => import("./overhead/overhead.ts"),
  },
  "cache-types": {
    what: "what each KV cache type costs a model: KL divergence, likeliest token, perplexity, bytes",
    load: () => import("./cache-types/cache-types.ts"),
  },
  "long-window": {
    what: "greedy continuations after 8,000 tokens of a sliding-window model, by cache type",
    load: () => import("./cache-types/long-window.ts"),
  },
  "learned-maps": {
    what: "what a learned map of the KV cache is worth: every type plain and mapped, at several contexts",
    load: () => import("./learned-maps/learned-maps.ts"),
  },
  "exact-window": {
    what: "what the exact window is worth: every type plain, mapped, with the window and with both",
    load: () => import("./exact-window/exact-window.ts"),
  },
  "cpu-kernels": {
    what: "encode, decode and dot of every format, by instruction set",
    load: () => import("./cpu-kernels/cpu-kernels.ts"),
  },
  "attention-cpu": {
    what: "attention on the CPU against pristine llama.cpp's, by type, head size and context",
    load: () => import("./attention-cpu/attention-cpu.ts"),
  },
  "long-context": {
    what: "prompt and decode at 1,000 to 16,000 tokens by cache type, with pristine llama.cpp in turn",
    load: () => import("./long-context/long-context.ts"),
  },
  "first-token": {
    what: "from typing npm start to the first letter of the answer",
    load: () => import("./first-token/first-token.ts"),
  },
  runtimes: {
    what: "the same prompt to llama.cpp and LiteRT-LM: text, first token, tokens per second, memory",
    load: () => import("./runtimes/runtimes.ts"),
  },
  cancel: {
    what: "how long a cancellation takes in the middle of a prompt, beside the whole prompt",
    load: () => import("./cancel/cancel.ts"),
  },
  streams: {
    what: "eight streams at once, beside file reads and a 5 ms timer",
    load: () => import("./streams/streams.ts"),
  },
};

const [name = "", ...args] = process.argv.slice(2);
const chosen = benchmarks[name];
if (!chosen) {
  console.error("usage: npm run bench -- NAME [--json]");
  for (const [known, { what }] of Object.entries(benchmarks)) console.error(`  ${known.padEnd(12)}${what}`);
  process.exitCode = name ? 2 : 0;
} else {
  await (await chosen.load()).run(args);
}
