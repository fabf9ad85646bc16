import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { ChatPrompter, readChatFormat } from "../../src/chat/index.ts";
import { readGguf } from "../../src/gguf/index.ts";
import { Inference } from "../../src/inference.ts";
import { NativeLibrary } from "../../src/native/native-library.ts";
import type { StreamOptions } from "../../src/options.ts";
import { streamConfig } from "./abi-streams.ts";
import { libraryUnderTest, picoModel } from "./engine-under-test.ts";

describe("why a generation ended is always said", () => {
  const prompt = "Once upon a time there was a";
  let inference: Inference;
  before(async () => {
    inference = await Inference.open(picoModel, { libraryPath: await libraryUnderTest(), contextSize: 64 });
  });
  after(() => inference.close());

  for (const [reason, options] of [
    ["length", { maxTokens: 3 }],
    ["context", {}],
    ["stop", { stop: ["a"], maxTokens: 30 }],
    ["stop", { grammar: 'root ::= "x"' }],
  ] as [string, StreamOptions][]) {
    test(`${reason}: ${JSON.stringify(options)}`, async () => {
      const stream = inference.stream(prompt, options);
      await stream.text();
      assert.equal((await stream.report()).finishReason, reason);
    });
  }

  test("cancelled: a loop that was left, and an aborted signal", async () => {
    const left = inference.stream(prompt);
    for await (const _ of left) break;
    assert.equal((await left.report()).finishReason, "cancelled");
    const stop = new AbortController();
    const aborted = inference.stream(prompt, { signal: stop.signal });
    await aborted.next();
    stop.abort();
    await assert.rejects(aborted.text(), { code: "CANCELLED" });
    assert.equal((await aborted.report()).finishReason, "cancelled");
  });

  test("none before a prompt, running before its end", async () => {
    const library = NativeLibrary.load(await libraryUnderTest());
    const context = library.create(picoModel);
    const stream = await library.open(context, streamConfig, { queue_size: 1 });
    assert.equal(library.generationReport(stream).finishReason, "none");
    library.prefill(stream, Int32Array.of(1, 2, 3));
    assert.equal(library.generationReport(stream).finishReason, "running");
    library.cancel(stream);
    assert.equal(library.generationReport(stream).finishReason, "cancelled");
    await library.close(stream);
    await library.destroy(context);
  });
});

test("a model whose file names no begin token has none: its template prints no other token's text for it", async () => {
  const folder = await mkdtemp(join(tmpdir(), "no-begin-"));
  try {
    // The key goes, and with it llama.cpp takes token 11 of a byte-pair vocabulary, whatever that is.
    const bytes = await readFile(picoModel);
    const key = "tokenizer.ggml.bos_token_id";
    assert.ok(bytes.includes(key));
    bytes.write("tokenizer.ggml.bos_token_iX", bytes.indexOf(key));
    const template = "tokenizer.chat_template";
    assert.ok(bytes.includes(template));
    const path = join(folder, "no-begin.gguf");
    await writeFile(path, bytes);
    const libraryPath = await libraryUnderTest();
    await using model = await Inference.open(path, { libraryPath, contextSize: 256 });
    assert.equal(model.report().model.bosToken, "");
    const format = {
      ...(await readChatFormat(await readGguf(path))),
      template: "{{ bos_token }}|{{ messages[0].content }}",
    };
    assert.equal(new ChatPrompter(format, "no-begin").text([{ role: "user", content: "x" }]), "|x");
  } finally {
    await rm(folder, { recursive: true });
  }
});
