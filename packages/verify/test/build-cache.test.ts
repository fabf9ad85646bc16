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
    const made = cached("a", ["b"], "bin", build);
    assert.ok(made.path.startsWith(join(folder, "kernels")));
    assert.equal(made.sources, "a");
    assert.deepEqual(cached("a", ["b"], "bin", build), made);
    assert.equal(await readFile(made.path, "utf8"), "built 1");
    assert.notEqual(cached("a", ["c"], "bin", build).path, made.path);
    assert.throws(() =>
      cached("d", [], "bin", (partial) => {
        writeFileSync(partial, "half");
        throw new Error("refused");
      }),
    );
    const files = await readdir(join(folder, "kernels"));
    assert.equal(files.length, 4, "nothing half-built stays: two files, each with its label");

    writeFileSync(made.path, "another build in its place");
    const again = cached("a", ["b"], "bin", build);
    assert.equal(await readFile(again.path, "utf8"), "built 3", "what was put in its place is not used");
  } finally {
    if (before === undefined) delete process.env.ELIZA_INFERENCE_CACHE;
    else process.env.ELIZA_INFERENCE_CACHE = before;
    await rm(folder, { recursive: true });
  }
});
