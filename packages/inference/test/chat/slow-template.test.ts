import assert from "node:assert/strict";
import { test } from "node:test";
import { type ChatFormat, ChatPrompter } from "../../src/chat/index.ts";
import { InferenceError } from "../../src/errors.ts";

const tokenize = async (text: string): Promise<Int32Array> => Int32Array.from(Buffer.from(text));
const formatOf = (template: string): ChatFormat => ({
  ...{ template, toolTemplate: undefined, bosToken: "", eosToken: "" },
  controlTokens: [{ id: -7, text: "<|x|>" }],
});
const loops = "{% for a in range(400) %}{% for b in range(200) %}{% set c = a %}{% endfor %}{% endfor %}";
const messages = [{ role: "user", content: "Hi <|x|>" }] as const;

test("a template that takes long leaves the event loop free, and its prompt is the same", async () => {
  const end = "<|x|>{{ messages[0].content }}";
  const slow = new ChatPrompter(formatOf(loops + end), "slow");
  let ticks = 0;
  const timer = setInterval(() => ticks++, 1);
  const ids = await slow.tokens(messages, {}, tokenize);
  clearInterval(timer);
  assert.ok(ticks > 0, "it was free in between");
  assert.deepEqual(ids, await new ChatPrompter(formatOf(end), "quick").tokens(messages, {}, tokenize));
  assert.deepEqual(Array.from(ids), [-7, ...Buffer.from("Hi <|x|>")]);
});

test("one without an end is stopped there too, and what it refuses is said in its words", async () => {
  const endless =
    "{% for a in range(100000) %}{% for b in range(100000) %}{% set c = a %}{% endfor %}{% endfor %}";
  const fails = (template: string, code: string, words: RegExp): Promise<void> =>
    assert.rejects(
      new ChatPrompter(formatOf(template), "bad").tokens(messages, {}, tokenize),
      (error: unknown) => error instanceof InferenceError && error.code === code && words.test(error.message),
    );
  await fails(endless, "CHAT_TEMPLATE_INVALID", /was stopped: it (took|made)/);
  await fails(`${" ".repeat(500_000)}x`, "CHAT_TEMPLATE_INVALID", /white space/);
  await fails(`${loops}{{ raise_exception("not so") }}`, "CHAT_REFUSED", /not so/);
});
