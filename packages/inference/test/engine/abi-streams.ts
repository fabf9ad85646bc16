import type { ContextHandle, NativeLibrary, StreamHandle } from "../../src/native/native-library.ts";
import type { StreamConfig } from "../../src/native/stream-config.ts";

/** Greedy, twelve tokens, on the processor. */
export const streamConfig: StreamConfig = {
  max_tokens: 12,
  temperature: 0,
  top_p: 0,
  top_k: 0,
  repeat_penalty: 0,
  slot_id: -1,
  prompt_cache_key: null,
  draft_min: 0,
  draft_max: 0,
  mtp_drafter_path: null,
  gbnf_grammar: null,
  disable_thinking: 0,
  n_gpu_layers: 0,
  cache_type_k: null,
  cache_type_v: null,
  context_size: 512,
};

/** Reads to the end, as a host that polls. */
export async function readToEnd(
  library: NativeLibrary,
  context: ContextHandle,
  stream: StreamHandle,
): Promise<number[]> {
  const tokens: number[] = [];
  for (;;) {
    const result = library.tryNext(stream);
    if (result.state === "pending") {
      await library.poll(context, 10_000);
      continue;
    }
    tokens.push(...result.tokens);
    if (result.state === "final") return tokens;
  }
}
