// Each fault that a kernel could have is planted in a copy of the tree, and verify must catch it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { NO_CLANG, NO_VULKAN } from "./devices-here.ts";
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
    const report = tree.verify("--short", "--device", plant.device, "--kernel", plant.kernel);
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
