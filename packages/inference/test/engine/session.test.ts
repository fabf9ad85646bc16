import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { InferenceError } from "../../src/errors.ts";
import { Inference, type TokenStream } from "../../src/index.ts";
import { libraryUnderTest, picoModel as model } from "./engine-under-test.ts";

const libraryPath = await libraryUnderTest();
const story = "Once upon a time there was a small house by the sea, and in it lived";
const turns = ["Where is the house?", "Who lives there?", "What can they see from it?"];

async function read(stream: TokenStream): Promise<{ text: string; tokens: number[] }> {
  const got = { text: "", tokens: [] as number[] };
  for await (const { text, tokens } of stream) {
    got.text += text;
    got.tokens.push(...tokens);
  }
  return got;
}

describe("a session", () => {
  let inference: Inference;
  before(async () => {
    inference = await Inference.open(model, { libraryPath, contextSize: 1024, threads: 1, maxStreams: 2 });
  });
  after(() => inference.close());

  test("answers a conversation as fresh streams do, and reads only what is new", async () => {
    await using session = await inference.session({ maxTokens: 24 });
    const messages: { role: "user" | "assistant"; content: string }[] = [];
    let held = 0;
    for (const [turn, content] of turns.entries()) {
      messages.push({ role: "user", content });
      const stream = session.generate(messages);
      const { text } = await read(stream);
      const fresh = inference.stream(messages, { maxTokens: 24 });
      assert.equal(text, await fresh.text(), `turn ${turn}`);
      const [{ timing }, whole] = [await stream.report(), await fresh.report()];
      assert.equal(timing.reusedTokens + timing.promptTokens, whole.timing.promptTokens, `turn ${turn}`);
      if (turn > 0) assert.ok(timing.reusedTokens >= held, `${timing.reusedTokens} of ${held} kept`);
      held = timing.reusedTokens + timing.promptTokens;
      messages.push({ role: "assistant", content: text });
    }
  });

  test("a string goes on where the sequence ends", async () => {
    await using session = await inference.session({ maxTokens: 8 });
    const first = await read(session.generate(story));
    const second = await read(session.generate(" and then"));
    const all = await session.tokens();
    assert.deepEqual(Array.from(all.subarray(-second.tokens.length)), second.tokens);
    const whole = await inference.detokenize(all);
    assert.ok(whole.endsWith(`${first.text} and then${second.text}`), whole);
  });

  test("a conversation that was changed is answered as it now is", async () => {
    await using session = await inference.session({ maxTokens: 12 });
    await read(session.generate([{ role: "user", content: turns[0]! }]));
    const other = [{ role: "user", content: "Tell me about the forest instead." }] as const;
    const again = await read(session.generate(other));
    assert.equal(again.text, await inference.stream(other, { maxTokens: 12 }).text());
    assert.equal((await read(session.generate(other))).text, again.text, "the same once more");
  });

  test("generations that were left do not show in the next", async () => {
    await using session = await inference.session({ maxTokens: 300 });
    for await (const _ of session.generate(story)) break;
    const controller = new AbortController();
    const aborted = session.generate(" and", { signal: controller.signal });
    await aborted.next();
    controller.abort();
    await assert.rejects(
      read(aborted),
      (error) => error instanceof InferenceError && error.code === "CANCELLED",
    );
    const messages = [{ role: "user", content: turns[0]! }] as const;
    const { text } = await read(session.generate(messages));
    assert.equal(text, await inference.stream(messages, { maxTokens: 300 }).text());
  });

  test("takes one generation at a time, and none when it is closed", async () => {
    const session = await inference.session({ maxTokens: 64 });
    const running = session.generate(story);
    await running.next();
    const refused = (code: string) => (error: unknown) =>
      error instanceof InferenceError && error.code === code;
    await assert.rejects(session.generate("more").next(), refused("INVALID_ARGUMENT"));
    await assert.rejects(session.rewind(3), refused("INVALID_ARGUMENT"));
    await running.return();
    assert.equal(await session.rewind(3), 3);
    assert.equal((await session.tokens()).length, 3);
    await session.close();
    await session.close();
    await assert.rejects(session.tokens(), refused("CLOSED"));
    await assert.rejects(session.generate(story).next(), refused("CLOSED"));
  });

  test("ends with its model", async () => {
    const other = await Inference.open(model, { libraryPath, contextSize: 256, threads: 1 });
    const session = await other.session();
    const running = session.generate(story);
    await running.next();
    await other.close();
    await assert.rejects(session.tokens(), (error) => (error as InferenceError).code === "CLOSED");
  });
});
