// The Khronos validation layer must have nothing to say, up to and including the teardown.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { NO_VULKAN } from "./devices-here.ts";

const LAYERS = ["/usr/share/vulkan/explicit_layer.d", "/etc/vulkan/explicit_layer.d"];
const hasLayer = LAYERS.some((folder) => existsSync(`${folder}/VkLayer_khronos_validation.json`));
const skip = NO_VULKAN || (!hasLayer && "needs the validation layer (Debian: vulkan-validationlayers)");

test("the validation layer is silent over a run of a kernel and its teardown", { skip }, () => {
  const worker = fileURLToPath(new URL("../src/verify-worker.ts", import.meta.url));
  const task = {
    device: "vulkan",
    configuration: { label: "" },
    kernels: ["turbo4_score", "polar_get_rows"],
    short: true,
  };
  const result = spawnSync(process.execPath, [...process.execArgv, worker, JSON.stringify(task)], {
    env: { ...process.env, VK_INSTANCE_LAYERS: "VK_LAYER_KHRONOS_validation", VK_LOADER_DEBUG: "layer" },
    encoding: "utf8",
  });
  const said = `${result.stdout}${result.stderr}`;
  assert.equal(result.status, 0, said);
  assert.match(said, /VK_LAYER_KHRONOS_validation/, "the layer was not loaded");
  assert.doesNotMatch(said, /Validation Error|VUID-|UNASSIGNED/);
});
