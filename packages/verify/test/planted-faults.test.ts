// Each fault that a kernel could have is planted in a copy of the tree, and verify must catch it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { NO_CC, NO_CLANG, NO_VULKAN } from "./devices-here.ts";
import { PlantedTree } from "./planted-tree.ts";

interface Plant {
  readonly fault: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
  readonly kernel: string;
  readonly device: "emulated-metal" | "emulated-cuda" | "vulkan";
  /** What the report must say. */
  readonly says: RegExp;
  /** What the names of the cases that fail must be like, where only some can. */
  readonly cases?: RegExp;
  /** The case that must see it, by a part of its name; every case of a short run by default. */
  readonly only?: string;
  /** An edit that the fault needs first. */
  readonly prelude?: { readonly file: string; readonly from: string; readonly to: string };
}

const NIBBLES = { from: "levels[pair & 15]", to: "levels[(pair >> 4) & 15]" };
const LAST_ROW = { from: "if (team_row() >= n_rows) return;", to: "if (team_row() + 1 >= n_rows) return;" };

const PLANTS: readonly Plant[] = [
  {
    fault: "nibbles in the wrong order",
    file: "kernels/cuda/turbo4_score.cu",
    ...NIBBLES,
    kernel: "turbo4_score",
    device: "emulated-cuda",
    says: /difference/,
  },
  {
    fault: "attention that is not turned back",
    file: "kernels/cuda/attention_decode.cuh",
    from: "rotate_tiles<N>(x, V::TILE, l.lane, false)",
    to: "rotate_tiles<N>(x, V::TILE, l.lane, true)",
    kernel: "attention",
    device: "emulated-cuda",
    says: /difference/,
    only: "turbo4/turbo4 d128 n_kv 70",
  },
  {
    fault: "attention without the exact window",
    file: "kernels/cuda/attention_decode.cuh",
    from: "const uint32_t all = parts + exact_parts;",
    to: "const uint32_t all = parts;",
    kernel: "attention",
    device: "emulated-cuda",
    says: /difference/,
    only: "turbo4/turbo4 d128 n_kv 97",
  },
  {
    fault: "a part of attention that is merged before it is there",
    file: "kernels/cuda/attention_decode.cuh",
    from: "*slot = out[i] + (warp + HALF < WARPS ? *slot : 0.0f);\n            }\n        __syncthreads();",
    to: "*slot = out[i] + (warp + HALF < WARPS ? *slot : 0.0f);\n            }",
    kernel: "attention",
    device: "emulated-cuda",
    says: /barrier is missing|difference|NaN/,
    only: "turbo4/turbo4 d128 n_kv 70",
  },
  {
    fault: "attention that is not turned back",
    file: "kernels/portable/attention.inc",
    from: "rotate(V_FORMAT, HEADS * HEAD_DIM, false);",
    to: "rotate(V_FORMAT, HEADS * HEAD_DIM, true);",
    kernel: "attention",
    device: "emulated-metal",
    says: /difference/,
    only: "turbo4/turbo4 d128 n_kv 70",
  },
  {
    fault: "weights that are made before the largest score is known",
    file: "kernels/portable/attention_tiles.inc",
    from: "shrinks[THREAD] = exp(before - largest);\n    }\n    BARRIER();",
    to: "shrinks[THREAD] = exp(before - largest);\n    }",
    kernel: "attention",
    device: "emulated-metal",
    says: /barrier is missing|difference|NaN/,
    only: "turbo4/turbo4 d128 n_kv 70",
  },
  {
    fault: "attention without the exact window",
    file: "kernels/portable/attention.inc",
    from: "const uint all = parts + (p.n_exact > 0u ? 1u : 0u);",
    to: "const uint all = parts;",
    kernel: "attention",
    device: "vulkan",
    says: /difference/,
    only: "turbo4/turbo4 d128 n_kv 97",
  },
  {
    fault: "fused attention that sees one position too many",
    file: "kernels/portable/fused_attention.inc",
    from: "token > p.q_pos_base + query_of(row)",
    to: "token > p.q_pos_base + query_of(row) + 1u",
    kernel: "fused_attn_qjl_tbq",
    device: "emulated-cuda",
    says: /difference/,
    cases: /causal/,
  },
  {
    fault: "a tail-biting context that is shifted",
    file: "kernels/portable/encode_trellis.inc",
    from: "viterbi(rate, 2u * context, 2u * span - context, span, -1);",
    to: "viterbi(rate, 2u * context, 2u * span - context + 1u, span, -1);",
    kernel: "kv_set_rows",
    device: "emulated-metal",
    says: /difference/,
    only: "turbo4_tcq d128",
  },
  {
    fault: "survivors that are read before they are chosen",
    file: "kernels/portable/encode_trellis.inc",
    from: "partial[2u * THREAD + 1u] = own[1];\n    BARRIER();",
    to: "partial[2u * THREAD + 1u] = own[1];",
    kernel: "kv_set_rows",
    device: "emulated-cuda",
    says: /barrier is missing|difference|NaN/,
    only: "turbo3_tcq d128",
  },
  {
    fault: "rows decoded without their index",
    file: "kernels/portable/get_rows.inc",
    from: "(p.flags & FLAG_IDS) != 0u ? ids[GROUP] : GROUP",
    to: "GROUP",
    kernel: "kv_get_rows",
    device: "vulkan",
    says: /difference/,
    cases: /by index/,
  },
  {
    fault: "a last part of attention that is not merged",
    file: "kernels/portable/attention.inc",
    from: "for (uint n = 0u; n < parts; n++) {",
    to: "for (uint n = 0u; n + 1u < parts; n++) {",
    kernel: "attention",
    device: "vulkan",
    says: /difference/,
    only: "turbo4/turbo4 d128 n_kv 70",
  },
  {
    fault: "nibbles in the wrong order",
    file: "kernels/vulkan/turbo4_score.comp",
    ...NIBBLES,
    kernel: "turbo4_score",
    device: "vulkan",
    says: /difference/,
  },
  {
    fault: "no barrier before the parts are added",
    file: "kernels/metal/score.h",
    from: "thread_index] = sums[h];\n        threadgroup_barrier(mem_flags::mem_threadgroup);",
    to: "thread_index] = sums[h];",
    kernel: "turbo4_score",
    device: "emulated-metal",
    says: /barrier is missing|difference|NaN/,
  },
  {
    fault: "no barrier within the Hadamard transform",
    file: "kernels/cuda/hadamard.cuh",
    from: "low[step] = a - b;\n        }\n        __syncthreads();",
    to: "low[step] = a - b;\n        }",
    kernel: "polar_get_rows",
    device: "emulated-cuda",
    says: /barrier is missing|difference|NaN/,
  },
  {
    fault: "a barrier that only some threads reach",
    file: "kernels/metal/polar_get_rows.metal",
    from: "hadamard_slices(tile, 1, thread_index);",
    to: "if (thread_index < 64) hadamard_slices(tile, 1, thread_index);",
    kernel: "polar_get_rows",
    device: "emulated-metal",
    says: /divergent barrier/,
  },
  {
    fault: "a wrong mask of signs",
    file: "kernels/tables/signs-residual.inc",
    from: "0x3a34cb04u",
    to: "0x3a34cb05u",
    kernel: "polar_preht_score",
    device: "emulated-cuda",
    says: /difference/,
  },
  {
    fault: "the last row left out",
    file: "kernels/vulkan/score.glsl",
    ...LAST_ROW,
    kernel: "turbo3_score",
    device: "vulkan",
    says: /is NaN/,
  },
  {
    fault: "a row written past the end",
    file: "kernels/cuda/score.cuh",
    from: "    if (T::row() >= n_rows) return;",
    to: "    if (T::row() > n_rows) return;",
    kernel: "turbo3_score",
    device: "emulated-cuda",
    says: /past the|difference/,
  },
  {
    fault: "query heads mapped wrongly from the third KV head on",
    file: "kernels/cuda/score.cuh",
    from: "queries + (kv_head * group + first_head) * query_dim;",
    to: "queries + ((kv_head < 2 ? kv_head : 1) * group + first_head) * query_dim;",
    kernel: "turbo4_score",
    device: "emulated-cuda",
    says: /difference/,
    only: "n_kv 33 gqa",
    cases: / gqa \dx[358] /,
  },
  {
    fault: "a last slice of less than 128 values left out",
    file: "kernels/metal/score.h",
    from: "value < p.head_dim; value += SLICE",
    to: "value + SLICE <= p.head_dim || value == 0; value += SLICE",
    kernel: "turbo4_score",
    device: "emulated-metal",
    says: /difference/,
    only: "turbo4 d",
    cases: / d(160|192|224|320) /,
  },
  {
    fault: "positions that wrap at 65,536",
    file: "kernels/vulkan/score.glsl",
    from: "first_row = gl_WorkGroupID.x * ROWS;",
    to: "first_row = (gl_WorkGroupID.x * ROWS) & 0xffffu;",
    kernel: "turbo4_score",
    device: "vulkan",
    says: /NaN/,
    only: "n_kv 65603",
  },
  {
    fault: "a subgroup width of 32 taken for granted",
    file: "kernels/vulkan/score.glsl",
    from: "    if (team_size() > 1) {\n",
    // Right where a team of 32 threads is one subgroup, wrong on lavapipe's 4, 8 and 16.
    to: `    if (team_size() == 32) {
        for (uint h = 0; h < HEADS; h++) {
            const float total = subgroupAdd(sums[h]);
            if (team_lane() == 0 && first_head + h < group)
                scores[(kv_head * group + first_head + h) * p.n_kv + first_row] = total;
        }
        return;
    }
    if (team_size() > 1) {
`,
    kernel: "turbo4_score",
    device: "vulkan",
    says: /difference|NaN/,
    cases: /^subgroup (4|8|16): .* rows 1 /,
    prelude: {
      file: "kernels/vulkan/rows.glsl",
      from: "#extension GL_EXT_shader_16bit_storage : require\n",
      to: "#extension GL_EXT_shader_16bit_storage : require\n#extension GL_KHR_shader_subgroup_arithmetic : require\n",
    },
  },
];

for (const plant of PLANTS) {
  const skip = plant.device === "vulkan" ? NO_VULKAN : NO_CLANG;
  test(`${plant.device} catches ${plant.fault}`, { skip }, () => {
    using tree = new PlantedTree();
    tree.edit(plant.file, plant.from, plant.to);
    if (plant.prelude) tree.edit(plant.prelude.file, plant.prelude.from, plant.prelude.to);
    const report = tree.verify(
      ...["--device", plant.device, "--kernel", plant.kernel],
      ...(plant.only === undefined ? ["--short"] : ["--case", plant.only]),
    );
    const verdict = report.devices[0]?.kernels[0];
    assert.equal(report.passed, false);
    assert.ok(verdict && verdict.failures.length > 0, "no case failed");
    assert.match(verdict.failures.map(({ reason }) => reason).join("\n"), plant.says);
    for (const { name } of verdict.failures) assert.match(name, plant.cases ?? /./);
  });
}

test("a tree without faults passes, so the faults are what is caught", { skip: NO_CLANG }, () => {
  using tree = new PlantedTree();
  assert.equal(tree.verify("--short", "--device", "emulated-cuda", "--kernel", "turbo4_score").passed, true);
});

interface CpuFault {
  readonly fault: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
  readonly kernel: string;
  /** The cases that must fail, and those that must not. */
  readonly fails: RegExp;
  readonly holds: RegExp;
}

/** Each list is planted together, since the library is compiled once for it; no fault hides another's cases. */
const CPU_FAULTS: readonly (readonly CpuFault[])[] = [
  [
    {
      fault: "an encoder that swaps nibbles",
      file: "kernels/cpu/src/scalar_formats.h",
      from: "vi_narrow(bytes + 2, vi_or(codes[0], vi_shl(codes[1], 4)));",
      to: "vi_narrow(bytes + 2, vi_or(codes[1], vi_shl(codes[0], 4)));",
      kernel: "kv_encode",
      fails: /golden turbo4 d128 (default|reference)/,
      holds: / tbq3 /,
    },
    {
      fault: "a wrong sign mask, so that query and row agree in error",
      file: "kernels/tables/signs-2.inc",
      from: "0xe953116fu",
      to: "0xe953116eu",
      kernel: "kv_prepare_query",
      fails: /golden turbo3 d128/,
      holds: / (turbo4|tbq3) d/,
    },
    {
      fault: "AVX2 alone, whatever better the processor has",
      file: "kernels/cpu/src/lanes_avx2.h",
      from: "lookup16_8(first, second, index.low), lookup16_8(first, second, index.high)",
      to: "lookup16_8(first, second, index.low), lookup16_8(first, second, index.low)",
      kernel: "turbo4_score",
      fails: /^avx2: /,
      holds: /^(scalar|avx512): /,
    },
  ],
  [
    {
      fault: "a decoder that leaves the scale out",
      file: "kernels/cpu/src/tiles.h",
      from: "scale_tile(values, block, scale);",
      to: "(void)scale;",
      kernel: "kv_decode",
      fails: /golden tbq3 d128 default original/,
      holds: / qjl1_256 /,
    },
    {
      fault: "a tail-biting context that is shifted",
      file: "kernels/cpu/src/trellis.h",
      from: "samples[tile].x[(i - context) & (width - 1)]",
      to: "samples[tile].x[(i - context + 1) & (width - 1)]",
      kernel: "kv_encode",
      fails: /golden turbo4_tcq d128 default/,
      holds: / turbo3_tcq d128 /,
    },
    {
      fault: "a trellis window of rate 5",
      file: "kernels/cpu/src/trellis.h",
      from: "vi_windows(bits, k), TRELLIS_STATES - 1",
      to: "vi_windows(bits, k == 5 ? 4 : k), TRELLIS_STATES - 1",
      kernel: "trellis_score",
      fails: /^(scalar|avx2|neon): .*turbo3_mix d128/, // AVX-512 has windows of its own
      holds: / turbo2_mix /,
    },
  ],
];

for (const faults of CPU_FAULTS) {
  const skip = NO_CC || (process.arch !== "x64" && "faults are planted in x64's paths");
  test(`cpu catches ${faults.map(({ fault }) => fault).join("; ")}`, { skip }, () => {
    using tree = new PlantedTree();
    tree.edit("kernels/cpu/flags.txt", "-O3", "-O1"); // compiles in half the time
    for (const { file, from, to } of faults) tree.edit(file, from, to);
    const kernels = faults.flatMap(({ kernel }) => ["--kernel", kernel]);
    const report = tree.verify("--short", "--device", "cpu", ...kernels);
    const sets = report.devices[0]!.description!.instructionSets;
    for (const { fault, kernel, fails, holds } of faults) {
      const verdict = report.devices[0]!.kernels.find((found) => found.kernel === kernel)!;
      const failed = verdict.failures.map(({ name }) => name);
      if (sets.includes("avx2") || !fails.source.includes("avx2")) {
        assert.ok(
          failed.some((name) => fails.test(name)),
          `${fault}: ${failed.slice(0, 5).join(", ")}`,
        );
      }
      assert.deepEqual(
        failed.filter((name) => holds.test(name)),
        [],
        fault,
      );
      if (fails.source.startsWith("^")) continue;
      for (const isa of sets) {
        assert.ok(
          failed.some((name) => name.startsWith(`${isa}: `)),
          `${fault} on ${isa}`,
        );
      }
    }
  });
}
