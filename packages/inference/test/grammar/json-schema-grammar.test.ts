import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import { InferenceError } from "../../src/errors.ts";
import { type JsonSchema, jsonSchemaGrammar } from "../../src/grammar/index.ts";
import { Inference } from "../../src/inference.ts";
import { libraryUnderTest, picoModel } from "../engine/engine-under-test.ts";

const schemas: Record<string, JsonSchema> = {
  "an object with what may be left out": {
    type: "object",
    properties: {
      name: { type: "string", minLength: 1, maxLength: 12 },
      age: { type: "integer", minimum: 0, maximum: 120 },
      email: { type: ["string", "null"], maxLength: 8 },
      kind: { enum: ["cat", 'the "dog"', 3, null] },
    },
    required: ["age", "kind"],
    additionalProperties: false,
  },
  "only what may be left out": {
    type: "object",
    properties: { a: { type: "boolean" }, b: { type: "null" }, c: { const: { deep: [1] } } },
  },
  "lists and tuples": {
    type: "object",
    properties: {
      few: {
        type: "array",
        items: { type: "integer", exclusiveMinimum: 9, maximum: 12 },
        minItems: 2,
        maxItems: 3,
      },
      pair: { type: "array", prefixItems: [{ type: "boolean" }, { type: "string", maxLength: 3 }] },
      none: { type: "array", items: { type: "number" }, maxItems: 1 },
    },
    required: ["few", "pair", "none"],
  },
  "branches and references": {
    $defs: {
      leaf: { type: "object", properties: { leaf: { type: "boolean" } }, required: ["leaf"] },
      node: {
        anyOf: [
          { $ref: "#/$defs/leaf" },
          {
            allOf: [{ $ref: "#/$defs/leaf" }, { properties: { more: { type: "null" } }, required: ["more"] }],
          },
        ],
      },
    },
    type: "object",
    properties: { tree: { $ref: "#/$defs/node" }, again: { $ref: "#/$defs/node" } },
    required: ["tree", "again"],
  },
  formats: {
    type: "object",
    properties: {
      day: { type: "string", format: "date" },
      at: { type: "string", format: "date-time" },
      id: { type: "string", format: "uuid" },
    },
    required: ["day", "at", "id"],
  },
};

const isFormat: Record<string, (text: string) => boolean> = {
  date: (text) => new Date(`${text}T00:00:00Z`).toISOString().startsWith(text),
  "date-time": (text) => !Number.isNaN(Date.parse(text)),
  uuid: (text) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text),
};

describe("text held to a JSON schema, drawn at random from a small model", () => {
  let inference: Inference;
  before(async () => {
    inference = await Inference.open(picoModel, { libraryPath: await libraryUnderTest(), contextSize: 512 });
  });
  after(() => inference.close());

  for (const [name, schema] of Object.entries(schemas)) {
    test(`${name}: what ends is valid, by another validator`, async () => {
      const ajv = new Ajv2020({
        formats: isFormat,
        allowUnionTypes: true,
        strictTuples: false,
        strictTypes: false,
        strictRequired: false,
      });
      const isValid = ajv.compile(schema);
      let ended = 0;
      for (let seed = 1; seed <= 12; seed++) {
        const stream = inference.stream("Once", { jsonSchema: schema, temperature: 3, seed, maxTokens: 300 });
        const text = await stream.text();
        if ((await stream.report()).finishReason !== "stop") continue;
        ended += 1;
        assert.ok(isValid(JSON.parse(text)), `seed ${seed}: ${text}: ${ajv.errorsText(isValid.errors)}`);
      }
      assert.ok(ended >= 6, `${ended} of 12 came to an end`);
    });
  }

  test("a list of itself, and any value", async () => {
    const nested: JsonSchema = { type: "array", items: { $ref: "#" }, maxItems: 2 };
    const grammar = jsonSchemaGrammar(nested);
    const text = await inference.stream("Once", { grammar, maxTokens: 40 }).text();
    assert.match(text, /^\[[\s[\],]*$/);
    const any = await inference.stream("Once", { jsonSchema: true, maxTokens: 8 }).text();
    assert.match(any, /^[\s"[{tfn\d-]/);
  });
});

test("a schema that a grammar cannot hold to is refused by keyword and place", () => {
  const refuses = (schema: JsonSchema, words: RegExp): void =>
    assert.throws(
      () => jsonSchemaGrammar(schema),
      (error: unknown) =>
        error instanceof InferenceError && error.code === "INVALID_ARGUMENT" && words.test(error.message),
    );
  refuses({ type: "string", pattern: "^a" }, /# has pattern/);
  refuses(
    { type: "object", properties: { a: { type: "number", minimum: 3 } } },
    /#\/properties\/a has minimum/,
  );
  refuses({ type: "array", uniqueItems: true }, /uniqueItems/);
  refuses({ type: "integer", minimum: 5, maximum: 4 }, /no integer/);
  refuses({ $ref: "#/$defs/absent" }, /refers to #\/\$defs\/absent/);
  refuses({ $ref: "http://elsewhere/schema" }, /elsewhere/);
  refuses({ type: "object", required: ["a"] }, /requires a/);
  refuses({ type: "string", maxLength: 5000 }, /maxLength 5000/);
  refuses({ type: "string", format: "email" }, /format email/);
  refuses({ type: "date" }, /type "date"/);
  refuses(false, /allows nothing/);
});
