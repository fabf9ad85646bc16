import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { type ChatMessage, readChatFormat, renderChat } from "../../src/chat/index.ts";
import { strftime } from "../../src/chat/strftime.ts";
import { InferenceError } from "../../src/errors.ts";
import { readGguf } from "../../src/gguf/index.ts";
import { resolveModel } from "../../src/models/index.ts";
import { writeTinyModel } from "../map/tiny-model.ts";

const system: ChatMessage = { role: "system", content: "Be brief." };
const user: ChatMessage = { role: "user", content: "Hi" };
const assistant: ChatMessage = { role: "assistant", content: "Hello." };
const again: ChatMessage = { role: "user", content: " 2 < 3 & {{ x }} " };

function code(expected: string, message?: RegExp) {
  return (error: unknown): boolean => {
    assert.ok(error instanceof InferenceError, String(error));
    assert.equal(error.code, expected);
    assert.notEqual(error.hint, "");
    if (message) assert.match(error.message, message);
    return true;
  };
}

const smollm = await resolveModel("smollm2-135m").catch(() => undefined);
test("SmolLM2's own template", { skip: smollm ? false : "smollm2-135m has not been pulled" }, async () => {
  assert.ok(smollm);
  const format = await readChatFormat(await readGguf(smollm.path));
  assert.equal(format.bosToken, "<|im_start|>");
  assert.equal(format.eosToken, "<|im_end|>");
  const { template = "", bosToken, eosToken } = format;
  const tokens = { bosToken, eosToken };
  assert.equal(
    renderChat(template, [user], tokens),
    "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n" +
      "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n",
  );
  assert.equal(
    renderChat(template, [system, user, assistant, again], { ...tokens, addGenerationPrompt: false }),
    "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n" +
      "<|im_start|>assistant\nHello.<|im_end|>\n<|im_start|>user\n 2 < 3 & {{ x }} <|im_end|>\n",
  );
});

test("a base model has no template, and says so", async () => {
  const folder = await mkdtemp(join(tmpdir(), "eliza-chat-"));
  after(() => rm(folder, { recursive: true, force: true }));
  const { path } = await writeTinyModel(folder, "gemma3", { tokenizer: true });
  const { controlTokens, ...format } = await readChatFormat(await readGguf(path));
  assert.deepEqual(format, { template: undefined, toolTemplate: undefined, bosToken: "", eosToken: "" });
  assert.deepEqual(
    controlTokens.map(({ text }) => text),
    ["<unk>", "<s>", "</s>"],
  );
  assert.throws(() => renderChat(format.template ?? "", [user], format), code("CHAT_TEMPLATE_MISSING"));
});

// The turns of Gemma's instruction-tuned models: the system's text goes before the first user's, roles must
// alternate, and the assistant is called model.
const turns = `{{ bos_token }}{% set lead = '' %}
{%- if messages[0].role == 'system' %}{% set lead = messages[0].content + '\\n\\n' %}{% set messages = messages[1:] %}{% endif %}
{%- for message in messages %}
{%- if (message.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('roles must alternate') }}{% endif %}
{{- '<start_of_turn>' + ('model' if message.role == 'assistant' else message.role) + '\\n' }}
{{- (lead if loop.first else '') + (message.content | trim) + '<end_of_turn>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<start_of_turn>model\\n' }}{% endif %}`;

test("a template with a first token, a folded system text, filters and its own refusals", () => {
  assert.equal(
    renderChat(turns, [system, user, assistant, again], { bosToken: "<bos>" }),
    "<bos><start_of_turn>user\nBe brief.\n\nHi<end_of_turn>\n<start_of_turn>model\nHello.<end_of_turn>\n" +
      "<start_of_turn>user\n2 < 3 & {{ x }}<end_of_turn>\n<start_of_turn>model\n",
  );
  assert.throws(() => renderChat(turns, [user, user]), code("CHAT_REFUSED", /roles must alternate/));
});

test("tools and calls reach the template in the form that templates expect", () => {
  const template =
    "{% for tool in tools %}{{ tool.function.name }}({{ tool.function.parameters | tojson }}) {% endfor %}" +
    "{% for message in messages %}{% for call in message.tool_calls or [] %}{{ call.id }}:{{ call.function.name }}" +
    "{{ call.function.arguments | tojson }} {% endfor %}{% if message.tool_call_id %}{{ message.tool_call_id }}=" +
    "{{ message.content }}{% endif %}{% endfor %}";
  const text = renderChat(
    template,
    [
      user,
      { role: "assistant", content: "", toolCalls: [{ id: "1", name: "add", arguments: { a: 1 } }] },
      { role: "tool", content: "3", toolCallId: "1" },
    ],
    { tools: [{ name: "add", parameters: { type: "object" } }], variables: { messages: "not mine" } },
  );
  assert.equal(text, 'add({"type": "object"}) 1:add{"a": 1} 1=3');
});

test("a template may ask for the date", () => {
  assert.equal(renderChat("{{ strftime_now('%Y') }}", [user]), String(new Date().getFullYear()));
  const date = new Date(2026, 0, 4, 13, 5, 9);
  assert.equal(
    strftime(date, "%d %b %Y, %A %I:%M:%S %p 100%% %q"),
    "04 Jan 2026, Sunday 01:05:09 PM 100% %q",
  );
});

test("broken templates and endless ones are errors", () => {
  assert.throws(
    () => renderChat("{% for x in %}", [user]),
    code("CHAT_TEMPLATE_INVALID", /could not be read/),
  );
  assert.throws(() => renderChat("{{ absent() }}", [user]), code("CHAT_TEMPLATE_INVALID"));
  assert.throws(() => renderChat("{{ 1 | nofilter }}", [user]), code("CHAT_TEMPLATE_INVALID"));
  const endless = "{% for x in range(1000000000) %}x{% endfor %}";
  assert.throws(() => renderChat(endless, [user]), code("CHAT_TEMPLATE_INVALID", /range of 1000000000/));
  assert.equal(renderChat("{% for x in range(1, 7, 2) %}{{ x }}{% endfor %}", [user]), "135");
});

test("templates that loop or grow are stopped, whatever grows", () => {
  const stopped: Record<string, string> = {
    loops: "{% for a in range(99999) %}{% for b in range(99999) %}{% set c = 1 %}{% endfor %}{% endfor %}",
    "loops with nothing in them":
      "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
    "doubled texts":
      "{% set n = namespace(s='xxxxxxxxxxxxxxxx') %}{% for a in range(64) %}{% set n.s = n.s + n.s %}{% endfor %}{{ n.s }}",
    "doubled lists":
      "{% set n = namespace(s=[1]) %}{% for a in range(64) %}{% set n.s = n.s + n.s %}{% endfor %}{{ n.s | length }}",
    "lists that hold one list twice":
      "{% set n = namespace(s=[1]) %}{% for a in range(64) %}{% set n.s = [n.s, n.s] %}{% endfor %}{{ n.s | tojson }}",
    "replaced texts":
      "{% set n = namespace(s='x') %}{% for a in range(64) %}{% set n.s = n.s.replace('x', 'xxxx') %}{% endfor %}{{ n.s }}",
    "a macro that calls itself": "{% macro m() %}{{ m() }}{{ m() }}{% endmacro %}{{ m() }}",
    output: "{% for a in range(99999) %}{{ messages[0].content }}{% endfor %}",
  };
  const long: ChatMessage = { role: "user", content: "x".repeat(100_000) };
  for (const [what, template] of Object.entries(stopped)) {
    const before = process.memoryUsage().rss;
    assert.throws(() => renderChat(template, [long]), code("CHAT_TEMPLATE_INVALID"), what);
    assert.ok(process.memoryUsage().rss - before < 1e9, `${what} took a gigabyte`);
  }
});

test("a long conversation is far from the limits", () => {
  const messages = Array.from({ length: 2001 }, (_, index) => (index % 2 ? assistant : user));
  assert.match(renderChat(turns, messages, { bosToken: "<bos>" }), /model\n$/);
});

test("content may be null beside calls alone, and calls stand where they belong", () => {
  const template =
    "{% for m in messages %}{{ m.content }}{% for c in m.tool_calls or [] %}{{ c.function.name }}{% endfor %}{% endfor %}";
  const call = { name: "f", arguments: {} };
  const calling: ChatMessage = { role: "assistant", content: null, toolCalls: [call] };
  assert.equal(renderChat(template, [user, calling]), "Hif");
  const refused = (message: unknown, words: RegExp) =>
    assert.throws(() => renderChat(template, [message as ChatMessage]), code("INVALID_ARGUMENT", words));
  refused({ role: "user", content: null }, /content of message 0 is null/);
  refused({ role: "assistant", content: null, toolCalls: [] }, /content of message 0 is null/);
  refused({ role: "user", content: "x", toolCalls: [call] }, /belong to the role assistant/);
  refused({ role: "user", content: "x", toolCallId: "1" }, /belongs to the role tool/);
  refused({ role: "assistant", content: "x", tool_calls: [call] }, /knows no option "tool_calls"/);
  refused({ role: "assistant", toolCalls: [{ name: "f", arguments: "{}" }] }, /arguments is "\{\}"/);
});

test("messages that are none are refused before the template sees them", () => {
  const wrong: unknown[] = [
    [],
    "Hi",
    [{ role: "human", content: "x" }],
    [{ role: "user", content: 3 }],
    [null],
  ];
  for (const messages of wrong) {
    assert.throws(() => renderChat("x", messages as ChatMessage[]), code("INVALID_ARGUMENT"));
  }
});
