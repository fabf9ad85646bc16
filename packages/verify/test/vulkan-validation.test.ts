// The Khronos validation layer must have nothing to say, up to and including the teardown.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { kernelById } from "../src/kernels.ts";
import { planOf } from "../src/plan.ts";
import { NO_VULKAN } from "./devices-here.ts";

const LAYERS = ["/usr/share/vulkan/explicit_layer.d", "/etc/vulkan/explicit_layer.d"];
const hasLayer = LAYERS.some((folder) => existsSync(`${folder}/VkLayer_khronos_validation.json`));
const skip = NO_VULKAN || (!hasLayer && "needs the validation layer (Debian: vulkan-validationlayers)");

for (const [kernel, only] of [
  ["turbo4_score", "golden"],
  ["polar_get_rows", ""],
  ["attention", "turbo4/turbo4 d128 n_kv 97"], // a second dispatch, and parameters in a buffer
  ["fused_attn_qjl_tbq", "seed"],
  ["kv_get_rows", "d128"],
  ["kv_set_rows", "golden turbo4"],
] as const) {
  test(`the validation layer is silent over a run of ${kernel} and its teardown`, { skip }, () => {
    const worker = fileURLToPath(new URL("../src/verify-worker.ts", import.meta.url));
    const task = { device: "vulkan", configuration: { label: "" }, kernels: [kernel], short: true, only };
    const plan = planOf(kernelById(kernel)!, true).filter(({ name }) => name.includes(only));
    assert.ok(plan.length > 0, "no case would run");
    const result = spawnSync(process.execPath, [...process.execArgv, worker, JSON.stringify(task)], {
      env: { ...process.env, VK_INSTANCE_LAYERS: "VK_LAYER_KHRONOS_validation", VK_LOADER_DEBUG: "layer" },
      encoding: "utf8",
    });
    const said = `${result.stdout}${result.stderr}`;
    assert.equal(result.status, 0, said);
    assert.match(said, /VK_LAYER_KHRONOS_validation/, "the layer was not loaded");
    assert.doesNotMatch(said, /Validation Error|VUID-|UNASSIGNED/);
  });
}
