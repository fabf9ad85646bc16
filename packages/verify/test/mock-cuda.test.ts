// The CUDA driver's calls, held by a stand-in that runs launches in the emulated kernels.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import koffi from "koffi";
import type { Artefact } from "../src/build-cache.ts";
import { CudaDevice } from "../src/cuda/cuda-device.ts";
import { buildEmulated } from "../src/emulated/emulated-device.ts";
import { kernelsOn } from "../src/kernel-sources.ts";
import { KERNELS } from "../src/kernels.ts";
import { planOf } from "../src/plan.ts";
import { runKernel } from "../src/run-kernel.ts";
import { cudaSymbols } from "../src/variants.ts";
import { NO_CC, NO_CLANG } from "./devices-here.ts";

const skip = NO_CC || NO_CLANG;
const folder = mkdtempSync(join(tmpdir(), "eliza-mock-"));
after(() => rmSync(folder, { recursive: true, force: true }));

let live: () => number = () => 0;
if (!skip) {
  const library = join(folder, "cuda.so");
  const source = fileURLToPath(new URL("mocks/cuda-driver.c", import.meta.url));
  execFileSync("cc", ["-shared", "-fPIC", "-O1", "-Wall", source, "-ldl", "-o", library]);
  process.env.ELIZA_CUDA_LIBRARY = library;
  const count = koffi.load(library).func("int mock_live()");
  live = () => count() as number;
}

/** A module as the stand-in takes it: the emulated library's path and its entry points. */
function mockImage(stem: string): Artefact {
  const entry = KERNELS.find((kernel) => kernel.stem === stem)!;
  const symbols = cudaSymbols(entry);
  const path = join(folder, stem);
  writeFileSync(path, `${buildEmulated("cuda", entry)}\n${symbols.join("\n")}\n\0`);
  return { path, sources: stem, sha256: "" };
}

test("every kernel holds through the CUDA driver's calls, and all that was made is freed", {
  skip,
}, async () => {
  const device = new CudaDevice(mockImage);
  assert.deepEqual(
    { ...device.description },
    {
      name: "cuda",
      backend: "cuda",
      kind: "emulated",
      model: "Mock GPU",
      driver: "CUDA 13.0, sm_90",
      subgroupWidth: 32,
      instructionSets: [],
    },
  );
  for (const kernel of kernelsOn("cuda").filter(({ constants }) => constants !== "formats")) {
    assert.equal(device.sources(kernel), undefined, "nothing is loaded yet");
    const { failures } = await runKernel(device, kernel, planOf(kernel, true).slice(-12));
    assert.deepEqual(failures, [], kernel.id);
    assert.equal(device.sources(kernel), kernel.stem);
  }
  device[Symbol.dispose]();
  assert.equal(live(), 0);
});
