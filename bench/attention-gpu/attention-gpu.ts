import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const HERE = dirname(fileURLToPath(import.meta.url));
const KERNELS = join(HERE, "../../kernels/cuda");
const PAIRS = [
  "turbo4-turbo4-128",
  "q4_0-q4_0-128",
  "q8_0-q8_0-128",
  "turbo4-turbo3_tcq-128",
  "turbo4_tcq-turbo4_tcq-128",
  "turbo4_tcq-turbo3_tcq-128",
  "turbo3_tcq-turbo3_tcq-128",
  "turbo4_mix-turbo4_tcq-128",
  "turbo3_mix-turbo3_tcq-128",
  "turbo2_mix-turbo2_tcq-128",
  "f16-f16-128",
  "turbo4-turbo4-256",
  "q4_0-q4_0-256",
];

function program(name: string, args: readonly string[]): number {
  const { error, status } = spawnSync(name, args, { stdio: "inherit" });
  if (error) console.error(`${name} does not start: ${error.message}`);
  return status ?? 1;
}

/** The definitions that make attention.cu the kernel of one pair, "K-V-head size". */
function definitions(pair: string): string[] {
  const [k, v, headDim] = pair.split("-");
  if (!k || !v || !headDim) throw new Error(`${pair} is not K-V-headsize, such as turbo4-turbo4-128`);
  return [`-DELIZA_K_TYPE=${k}`, `-DELIZA_V_TYPE=${v}`, `-DELIZA_HEAD_DIM=${headDim}`];
}

/**
 * `npm run bench -- attention-gpu [--architecture 90a] [--check] [--prefill] [--layouts by_token,by_head] [--masked] [PAIR …]`:
 * microseconds of a decode step (--prefill: of 512 queries) and the ratio to PyTorch's best bf16 scaled_dot_product_attention in the same run.
 * Needs an NVIDIA GPU of compute capability 9.0, nvcc and a python3 with PyTorch. Prints a JSON object a line.
 */
export async function run(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      architecture: { type: "string", default: "90a" },
      check: { type: "boolean", default: false },
      layouts: { type: "string", default: "by_token,by_head" },
      prefill: { type: "boolean", default: false },
      masked: { type: "boolean", default: false },
    },
  });
  const pairs = positionals.length > 0 ? positionals : PAIRS;
  const folder = mkdtempSync(join(tmpdir(), "eliza-attention-"));
  try {
    const target = `-gencode=arch=compute_${values.architecture},code=sm_${values.architecture}`;
    for (const pair of pairs) {
      for (const [source, suffix] of [
        ["attention.cu", ""],
        ["attention_prefill.cu", "-prefill"],
      ] as const) {
        process.exitCode = program("nvcc", [
          ...[target, "-std=c++17", "-cubin", "-O3"],
          ...definitions(pair),
          ...[join(KERNELS, source), "-o", join(folder, `${pair}${suffix}.cubin`)],
        ]);
        if (process.exitCode) return;
      }
    }
    const what = [values.check ? "check" : values.prefill ? "prefill" : "time"];
    const options = values.check ? [] : ["--layouts", values.layouts, ...(values.masked ? ["--masked"] : [])];
    process.exitCode = program("python3", [join(HERE, "measure.py"), folder, ...what, ...pairs, ...options]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
