import koffi from "koffi";
import { isRecord, shown } from "../arguments/rule.ts";
import { InferenceError } from "../errors.ts";

/** The 88-byte config of `eliza_inference_llm_stream_open`, field for field. */
export interface StreamConfig {
  max_tokens: number;
  temperature: number;
  top_p: number;
  top_k: number;
  repeat_penalty: number;
  slot_id: number;
  prompt_cache_key: string | null;
  draft_min: number;
  draft_max: number;
  mtp_drafter_path: string | null;
  gbnf_grammar: string | null;
  disable_thinking: number;
  n_gpu_layers: number;
  cache_type_k: string | null;
  cache_type_v: string | null;
  context_size: number;
}

const FIELDS = {
  max_tokens: "int32_t",
  temperature: "float",
  top_p: "float",
  top_k: "int32_t",
  repeat_penalty: "float",
  slot_id: "int32_t",
  prompt_cache_key: "const char *",
  draft_min: "int32_t",
  draft_max: "int32_t",
  mtp_drafter_path: "const char *",
  gbnf_grammar: "const char *",
  disable_thinking: "int32_t",
  n_gpu_layers: "int32_t",
  cache_type_k: "const char *",
  cache_type_v: "const char *",
  context_size: "int32_t",
} satisfies Record<keyof StreamConfig, string>;

export const streamConfigType = koffi.struct("eliza_llm_stream_config_t", FIELDS);

const wanted: Readonly<Record<string, string>> = {
  int32_t: "an integer of 32 bits",
  float: "a number",
  "const char *": "a string or null",
};

/** What is wrong with a config, in words that follow "is"; undefined if every field has its type. */
export function streamConfigProblem(value: unknown): string | undefined {
  if (!isRecord(value)) return `${shown(value)}, not a config`;
  const unknown = Object.keys(value).find((field) => !Object.hasOwn(FIELDS, field));
  if (unknown !== undefined) return `a config with an unknown field ${unknown}`;
  for (const [field, type] of Object.entries(FIELDS)) {
    const found = value[field];
    const fits =
      type === "const char *"
        ? found === null || (typeof found === "string" && !found.includes("\0"))
        : type === "float"
          ? typeof found === "number"
          : Number.isInteger(found) && found === ((found as number) | 0);
    if (!fits) return `a config whose ${field} is ${shown(found)}, not ${wanted[type]}`;
  }
  return undefined;
}

export interface StructLayout {
  size: number;
  offsets: Record<string, number>;
}

/** The layout that this binding uses. */
export function bindingLayout(): StructLayout {
  const offsets: Record<string, number> = {};
  for (const field of Object.keys(FIELDS)) offsets[field] = koffi.offsetof(streamConfigType, field);
  return { size: koffi.sizeof(streamConfigType), offsets };
}

/** Throws ABI_MISMATCH, naming the first difference, unless the library was compiled with the same layout. */
export function checkLayout(library: StructLayout): void {
  const binding = bindingLayout();
  const differences = Object.keys({ ...library.offsets, ...binding.offsets })
    .filter((field) => library.offsets[field] !== binding.offsets[field])
    .map((field) => `${field} at ${library.offsets[field]} in the library, ${binding.offsets[field]} here`);
  if (library.size !== binding.size)
    differences.unshift(`${library.size} bytes in the library, ${binding.size} here`);
  if (differences.length > 0) {
    throw new InferenceError(
      "ABI_MISMATCH",
      `the stream config is laid out differently: ${differences.join("; ")}`,
      "Use the library and the package of one version.",
    );
  }
}
