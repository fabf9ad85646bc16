import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { cached } from "../src/build-cache.ts";

test("what is built lies in the folder that ELIZA_INFERENCE_CACHE names, and is built once", async () => {
  const folder = await mkdtemp(join(tmpdir(), "eliza-kernels-"));
  const before = process.env.ELIZA_INFERENCE_CACHE;
  process.env.ELIZA_INFERENCE_CACHE = folder;
  try {
    let builds = 0;
    const build = (path: string): void => writeFileSync(path, `built ${++builds}`);
    const path = cached(["a", "b"], "bin", build);
    assert.ok(path.startsWith(join(folder, "kernels")));
    assert.equal(cached(["a", "b"], "bin", build), path);
    assert.equal(await readFile(path, "utf8"), "built 1");
    assert.notEqual(cached(["a", "c"], "bin", build), path);
    assert.throws(() =>
      cached(["d"], "bin", (partial) => {
        writeFileSync(partial, "half");
        throw new Error("refused");
      }),
    );
    assert.equal((await readdir(join(folder, "kernels"))).length, 2, "nothing half-built stays");
  } finally {
    if (before === undefined) delete process.env.ELIZA_INFERENCE_CACHE;
    else process.env.ELIZA_INFERENCE_CACHE = before;
    await rm(folder, { recursive: true });
  }
});
