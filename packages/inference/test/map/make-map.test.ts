import assert from "node:assert/strict";
import { copyFile, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { Inference } from "../../src/inference.ts";
import { Statistics } from "../../src/maps/index.ts";
import { libraryUnderTest, picoModel as pico } from "../engine/engine-under-test.ts";

describe('kvMap "make"', () => {
  let folder: string;
  let model: string;
  let libraryPath: string;
  const environment = { ...process.env };

  before(async () => {
    libraryPath = await libraryUnderTest();
    folder = await mkdtemp(join(tmpdir(), "eliza-make-map-"));
    process.env.ELIZA_INFERENCE_CACHE = join(folder, "cache");
    process.env.XDG_DATA_HOME = join(folder, "data");
    model = join(folder, "model.gguf");
    await copyFile(pico, model);
  });
  after(async () => {
    process.env = environment;
    await rm(folder, { recursive: true, force: true });
  });

  const open = (more = {}) =>
    Inference.open(model, {
      ...{ cache: "balanced", kvMap: "make", contextSize: 512, threads: 1, libraryPath },
      ...more,
    });

  it("makes the map beside generations, says so, and the next open goes through it", async () => {
    let path: string;
    {
      await using first = await open();
      assert.match(first.report().hint ?? "", /is being made/);
      assert.equal(first.report().kv.map, null);
      assert.match(first.report().preset?.why ?? "", /without a learned map/);
      const text = await first.stream("Once there was", { maxTokens: 8 }).text();
      assert.ok(text.length > 0);
      const made = await first.madeMap();
      assert.ok(made);
      path = made.path;
      assert.ok(path.startsWith(join(folder, "data")), path);
      assert.equal(first.report().kv.map, null, "what is open stays as it is");
    }
    const statistics = await Statistics.open(path);
    assert.deepEqual([statistics.exactTokens, statistics.exactSinks], [128, 4]);
    await using second = await open();
    const { kv, preset, hint } = second.report();
    assert.equal(kv.map?.exactTokens, 128);
    assert.equal(kv.caches[0]?.layers[0]?.k.startsWith("turbo4_mix"), true);
    assert.match(preset?.why ?? "", /learned map/);
    assert.equal(hint, null);
    assert.equal(await second.madeMap(), undefined, "there is nothing left to make");
    await using bare = await open({ exactTokens: 0, exactSinks: 0 });
    assert.match(bare.report().hint ?? "", /--exact-tokens 0/);
  });

  it("leaves nothing behind when the model is closed first, and makes it for a cache without a window", async () => {
    process.env.XDG_DATA_HOME = join(folder, "other");
    const closed = await open();
    const making = assert.rejects(closed.madeMap() as Promise<unknown>);
    await closed.close();
    await making;
    const left = await readdir(join(folder, "other"), { recursive: true }).catch(() => []);
    assert.deepEqual(
      left.filter((name) => /kvmap/.test(name)),
      [],
    );
    await using windowless = await open({ exactTokens: 0, exactSinks: 0 });
    const made = await windowless.madeMap();
    assert.equal((await Statistics.open(made!.path)).exactTokens, 0);
  });
});
