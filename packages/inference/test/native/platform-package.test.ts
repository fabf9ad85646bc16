import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { hostTargets } from "@eliza-inference/build/targets";
import { packagedLibraries } from "../../src/native/platform-package.ts";
import { processorFeatures } from "../../src/native/processor-features.ts";

const linux = hostTargets({ platform: "linux", cpu: "x64", libc: "glibc" });
const cpu = linux.filter(({ variant }) => variant === "cpu");

describe("platform packages", () => {
  let folder = "";
  const install = async (libraries: unknown): Promise<string> => {
    const at = join(folder, "node_modules", "@eliza-inference", "linux-x64");
    await mkdir(at, { recursive: true });
    const manifest = { name: "@eliza-inference/linux-x64", version: "0.1.0", elizaInference: { libraries } };
    await writeFile(join(at, "package.json"), JSON.stringify(manifest));
    return at;
  };
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "eliza-platform-"));
  });
  after(() => rm(folder, { recursive: true }));

  test("each that this machine could use is named when it is missing, and why none is made", async () => {
    const places = await packagedLibraries(join(folder, "program.js"), linux);
    assert.deepEqual(
      places.map(({ from, reason }) => `${from} ${reason}`),
      [
        "package @eliza-inference/linux-x64 is not installed",
        "package @eliza-inference/linux-x64-vulkan is not installed; none is made: the engine computes on the CPU alone",
        "package @eliza-inference/linux-x64-cuda is not installed; none is made: the engine computes on the CPU alone",
      ],
    );
    assert.match(
      (await packagedLibraries(join(folder, "program.js"), []))[0]?.reason ?? "",
      /there is none for/,
    );
  });

  test("libraries come best first, without those that the processor cannot run", async () => {
    const [own] = await processorFeatures();
    const at = await install([
      { file: "best.so", needs: ["quantum", ...(own ? [own] : [])] },
      { file: "good.so", needs: own ? [own] : [] },
      { file: "any.so", needs: [] },
    ]);
    const places = await packagedLibraries(join(folder, "program.js"), cpu);
    assert.deepEqual(places, [
      { from: "package @eliza-inference/linux-x64, best.so", reason: "the processor lacks quantum" },
      { from: "package @eliza-inference/linux-x64, good.so", path: join(at, "good.so") },
      { from: "package @eliza-inference/linux-x64, any.so", path: join(at, "any.so") },
    ]);
  });

  test("one without libraries says so", async () => {
    await install([]);
    const [place] = await packagedLibraries(join(folder, "program.js"), cpu);
    assert.match(place?.reason ?? "", /lists no library$/);
  });
});
