import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { copyFile, mkdtemp, readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { InferenceError } from "../../src/errors.ts";
import { readGguf } from "../../src/gguf/index.ts";
import { Inference, type OpenOptions, type Session } from "../../src/index.ts";
import { type ContextHandle, NativeLibrary, type StreamHandle } from "../../src/native/native-library.ts";
import type { StreamConfig } from "../../src/native/stream-config.ts";
import { writeRandomMap, writeTinyModel } from "../map/tiny-model.ts";
import { readToEnd, streamConfig } from "./abi-streams.ts";
import { libraryUnderTest, picoModel as model } from "./engine-under-test.ts";

const libraryPath = await libraryUnderTest();
const story = "Once upon a time there was a small house by the sea, and in it lived";

const code = (expected: string, words: RegExp) => (error: unknown) => {
  assert.ok(error instanceof InferenceError, String(error));
  assert.equal(error.code, expected, error.message);
  assert.match(error.message, words);
  return true;
};

async function say(session: Session, text: string): Promise<{ text: string; tokens: number[] }> {
  const said = { text: "", tokens: [] as number[] };
  for await (const piece of session.generate(text)) {
    said.text += piece.text;
    said.tokens.push(...piece.tokens);
  }
  return said;
}

describe("a saved sequence", () => {
  let folder: string;
  const slot = () => join(folder, "sequence.slot");
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "eliza-slots-"));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const open = (path: string, options: OpenOptions = {}) =>
    Inference.open(path, { libraryPath, contextSize: 1024, threads: 1, kvMap: "off", ...options });

  for (const type of ["f16", "q4_0", "turbo4", "turbo4_tcq", "turbo3_tcq"]) {
    test(`goes on in another context as in its own: ${type}`, async () => {
      const types = { cacheTypeK: type, cacheTypeV: type };
      await using first = await open(model, types);
      const original = await first.session({ maxTokens: 12 });
      await say(original, story);
      const saved = await original.save(slot());
      const held = await original.tokens();
      assert.equal(saved, held.length - 1, "the last of twelve tokens was not computed yet");
      const next = await say(original, " and then");
      await original.close();

      await using second = await open(model, { ...types, maxStreams: 2 });
      const restored = await second.session({ maxTokens: 12 });
      await say(restored, "Something else"); // is forgotten
      assert.equal(await restored.restore(slot()), saved);
      assert.deepEqual(await restored.tokens(), held);
      assert.deepEqual(await say(restored, " and then"), next);
    });
  }

  test("keeps a sliding window that has moved on", async () => {
    const tiny = await writeTinyModel(folder, "gemma3", { tokenizer: true });
    const options = { contextSize: 512, ubatchSize: 32, cacheTypeK: "turbo4" };
    await using inference = await open(tiny.path, options);
    const original = await inference.session({ maxTokens: 12 });
    const text = "an ant at tea ate ten nets and a tan net ".repeat(6);
    await say(original, text);
    assert.ok((await original.save(slot())) > 4 * Math.max(...tiny.windows));
    const next = await say(original, " ten nets");
    await original.restore(slot());
    assert.deepEqual(await say(original, " ten nets"), next);
    await using elsewhere = await open(tiny.path, options);
    const restored = await elsewhere.session({ maxTokens: 12 });
    await restored.restore(slot());
    assert.deepEqual(await say(restored, " ten nets"), next);
    // What lies in the windows decides: without it the same words go on otherwise.
    const fresh = await elsewhere.session({ maxTokens: 12 });
    assert.notDeepEqual(await say(fresh, " ten nets"), next);
  });

  test("is refused where it would mean something else, and changes nothing", async () => {
    await using inference = await open(model, { cacheTypeK: "turbo4" });
    const session = await inference.session({ maxTokens: 4 });
    await say(session, story);
    await session.save(slot());

    const other = join(folder, "other.gguf");
    await copyFile(model, other);
    const bytes = await readFile(other);
    bytes[bytes.length - 9] = bytes[bytes.length - 9]! ^ 1;
    await writeFile(other, bytes);
    const cases: [string, OpenOptions, RegExp][] = [
      [model, { cacheTypeK: "turbo4_tcq" }, /type of K: turbo4@\w+, here it is turbo4_tcq@/],
      [model, { cacheTypeK: "turbo4", cacheTypeV: "q8_0" }, /type of V: f16, here it is q8_0/],
      [other, { cacheTypeK: "turbo4" }, /another model/],
    ];
    for (const [path, options, words] of cases) {
      await using strange = await open(path, options);
      const here = await strange.session({ maxTokens: 4 });
      await say(here, story);
      const before = await here.tokens();
      await assert.rejects(here.restore(slot()), code("SLOT_MISMATCH", words));
      assert.deepEqual(await here.tokens(), before);
      await say(here, " and");
    }
    await using small = await open(model, { cacheTypeK: "turbo4", contextSize: 16 });
    const narrow = await small.session();
    await assert.rejects(narrow.restore(slot()), code("CONTEXT_FULL", /holds \d+ tokens, .* room for 16/));
  });

  test("records llama.cpp's own rotation", async () => {
    await using inference = await open(model, { cacheTypeK: "q4_0" });
    const session = await inference.session({ maxTokens: 4 });
    await say(session, story);
    await session.save(slot());
    process.env.LLAMA_ATTN_ROT_DISABLE = "1";
    try {
      await using unrotated = await open(model, { cacheTypeK: "q4_0" });
      const here = await unrotated.session();
      await assert.rejects(here.restore(slot()), code("SLOT_MISMATCH", /rotation of K: on, here it is off/));
    } finally {
      delete process.env.LLAMA_ATTN_ROT_DISABLE;
    }
  });

  test("that was cut or changed is refused, wherever", async () => {
    await using inference = await open(model);
    const session = await inference.session({ maxTokens: 4 });
    await say(session, story);
    await session.save(slot());
    const held = await session.tokens();
    const whole = await readFile(slot());
    const seed = Math.floor(Math.random() * 2 ** 31);
    let state = seed;
    const below = (limit: number): number => {
      state = (Math.imul(state, 1103515245) + 12345) >>> 1;
      return state % limit;
    };
    const damaged = join(folder, "damaged.slot");
    const places = [0, 7, 8, 12, 13, 16, 40, ...Array.from({ length: 60 }, () => below(whole.length))];
    for (const at of places) {
      const bytes = Buffer.from(whole);
      bytes[at] = bytes[at]! ^ (1 << below(8));
      await writeFile(damaged, bytes);
      await assert.rejects(session.restore(damaged), code("SLOT_INVALID", /./), `byte ${at}, seed ${seed}`);
    }
    for (const length of [0, 1, 15, 16, 17, 100, whole.length - 33, whole.length - 1]) {
      await writeFile(damaged, whole);
      await truncate(damaged, length);
      await assert.rejects(session.restore(damaged), code("SLOT_INVALID", /./), `${length} bytes`);
    }
    await writeFile(damaged, Buffer.concat([whole, Buffer.from("x")]));
    await assert.rejects(session.restore(damaged), code("SLOT_INVALID", /./));
    await assert.rejects(session.restore(join(folder, "none.slot")), code("SLOT_NOT_FOUND", /none\.slot/));
    await assert.rejects(session.restore(folder), code("SLOT_NOT_FOUND", /./));
    assert.deepEqual(await session.tokens(), held);
  });

  test("that was forged, hash and all, is refused by what it says", async () => {
    await using inference = await open(model);
    const session = await inference.session({ maxTokens: 4 });
    await say(session, story);
    await session.save(slot());
    const whole = await readFile(slot());
    const stateAt = (bytes: Buffer): number => {
      const header = JSON.parse(bytes.toString("utf8", 16, 16 + bytes.readUInt32LE(12)));
      return 16 + bytes.readUInt32LE(12) + 4 * (header.tokens + header.waiting);
    };
    /** The file with another header and other bytes, and the hash that belongs to them. */
    const forge = async (change: {
      header?: Record<string, unknown>;
      bytes?: (body: Buffer, state: number) => Buffer;
    }): Promise<string> => {
      const length = whole.readUInt32LE(12);
      const header = JSON.parse(whole.toString("utf8", 16, 16 + length));
      const text = Buffer.from(JSON.stringify({ ...header, ...change.header }));
      const prefix = Buffer.from(whole.subarray(0, 16));
      prefix.writeUInt32LE(text.length, 12);
      const start = 16 + length;
      const kept = Buffer.from(whole.subarray(start, whole.length - 32));
      const body = change.bytes?.(kept, stateAt(whole) - start) ?? kept;
      const bytes = Buffer.concat([prefix, text, body]);
      const path = join(folder, "forged.slot");
      await writeFile(path, Buffer.concat([bytes, createHash("sha256").update(bytes).digest()]));
      return path;
    };
    const word = (at: number, value: number) => (body: Buffer, state: number) => {
      body.writeUInt32LE(value, state + at);
      return body;
    };
    const { tokens } = JSON.parse(whole.toString("utf8", 16, 16 + whole.readUInt32LE(12)));
    assert.ok((await session.restore(await forge({}))) > 0, "a forgery of nothing is the slot");
    const held = await session.tokens();
    for (const [what, change] of [
      ["a token fewer", { header: { tokens: tokens - 1 }, bytes: (body: Buffer) => body.subarray(4) }],
      ["a token outside the vocabulary", { bytes: word(4 - 4 * (tokens + 1), 2 ** 30) }],
      ["very many streams", { bytes: word(8, 2 ** 31) }],
      ["no streams", { bytes: word(8, 0) }],
      ["very many cells", { bytes: word(12, 2 ** 32 - 1) }],
      ["a position below zero", { bytes: word(16, 2 ** 32 - 5) }],
      ["a position far away", { bytes: word(16, 2 ** 30) }],
      ["a header of other types", { header: { tokens: "many" } }],
      ["the last position there is", { bytes: word(16, 2 ** 31 - 1) }],
      ["a position twice", { bytes: word(16, 1) }],
      [
        "a state of nothing",
        { header: { state_bytes: 0 }, bytes: (body: Buffer, at: number) => body.subarray(0, at) },
      ],
    ] as const) {
      await assert.rejects(session.restore(await forge(change)), code("SLOT_INVALID", /./), what);
      assert.deepEqual(await session.tokens(), held, `${what}: the sequence is as it was`);
    }
    // and so are its rows: what it says next is what the slot that was saved says next
    const next = await say(session, " and then");
    await session.restore(slot());
    assert.deepEqual(await say(session, " and then"), next);
    assert.ok(
      (await inference.stream(story, { maxTokens: 2 }).text()).length > 0,
      "the context is not poisoned",
    );
  });

  test("that is refused leaves the sequence as it was, whatever byte of its state was forged", async () => {
    await using inference = await open(model, { contextSize: 256 });
    const session = await inference.session({ maxTokens: 4 });
    await say(session, story);
    await session.save(slot());
    const whole = await readFile(slot());
    const header = JSON.parse(whole.toString("utf8", 16, 16 + whole.readUInt32LE(12)));
    const state = 16 + whole.readUInt32LE(12) + 4 * (header.tokens + header.waiting);
    const held = await session.tokens();
    const next = await say(session, " and then");
    await session.restore(slot());
    let refusals = 0;
    for (let at = state; at < state + 16 + 12 * header.tokens + 48; at += 4) {
      for (const value of [0, 1, 2, 2 ** 16, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1]) {
        const bytes = Buffer.from(whole.subarray(0, whole.length - 32));
        if (bytes.readUInt32LE(at) === value) continue;
        bytes.writeUInt32LE(value, at);
        const path = join(folder, "word.slot");
        await writeFile(path, Buffer.concat([bytes, createHash("sha256").update(bytes).digest()]));
        const refused = await session.restore(path).then(
          () => false,
          (error) => {
            assert.equal(error.code, "SLOT_INVALID");
            return true;
          },
        );
        if (refused) {
          refusals += 1;
          assert.deepEqual(await session.tokens(), held, `word ${at - state} is ${value}`);
        } else {
          await session.restore(slot());
        }
      }
    }
    assert.ok(refusals > 100, `${refusals}`);
    assert.deepEqual(await say(session, " and then"), next);
  });

  test("sweeps what a save that was killed left behind, and nothing else", async () => {
    await using inference = await open(model);
    const session = await inference.session({ maxTokens: 4 });
    await say(session, story);
    const place = await mkdtemp(join(folder, "sweep-"));
    const path = join(place, "a.slot");
    const strange = ["a.slot.new", "a.slot.x1.new", "b.slot.123.new", "a.slot.123.old"];
    for (const name of ["a.slot.123456.new", "a.slot.7.new", ...strange])
      await writeFile(join(place, name), "x");
    await session.save(path);
    assert.deepEqual((await readdir(place)).sort(), ["a.slot", ...strange].sort());
    // two that save at once do not sweep each other
    const other = await inference.session({ maxTokens: 4 });
    await say(other, story);
    const saves = Array.from({ length: 20 }, (_, at) => (at % 2 ? session : other).save(path));
    assert.ok((await Promise.all(saves)).every((tokens) => tokens > 0));
    assert.deepEqual((await readdir(place)).sort(), ["a.slot", ...strange].sort());
  });

  test("is written whole or not at all, and not while a generation runs", async () => {
    await using inference = await open(model);
    const session = await inference.session({ maxTokens: 40 });
    const before = await readdir(folder);
    await assert.rejects(
      session.save(join(folder, "missing", "x.slot")),
      code("SLOT_WRITE_FAILED", /missing/),
    );
    const running = session.generate(story);
    await running.next();
    await assert.rejects(session.save(join(folder, "x.slot")), code("INVALID_ARGUMENT", /running/));
    await assert.rejects(session.restore(slot()), code("INVALID_ARGUMENT", /running/));
    await running.return();
    assert.deepEqual(await readdir(folder), before);
    assert.ok((await session.save(join(folder, "x.slot"))) > 0);
  });
});

describe("a slot, through the C ABI", () => {
  const config: StreamConfig = {
    ...streamConfig,
    ...{ max_tokens: 6, cache_type_k: "q8_0", cache_type_v: "q8_0", context_size: 256 },
  };
  const library = NativeLibrary.load(libraryPath);
  let folder: string;
  let context: ContextHandle;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "eliza-slots-"));
    context = library.create(model);
  });
  after(async () => {
    await library.destroy(context);
    await rm(folder, { recursive: true, force: true });
  });

  const read = (stream: StreamHandle) => readToEnd(library, context, stream);

  test("holds a prompt whose answer nobody has asked for", async () => {
    const path = join(folder, "prompt.slot");
    const stream = await library.open(context, config, {});
    const ids = library.tokenize(stream, story, { addSpecial: true, parseSpecial: true });
    library.prefill(stream, ids);
    assert.equal(await library.saveSlot(stream, path), ids.length - 1, "the last waits for its answer");
    const answer = await read(stream);
    const more = library.tokenize(stream, " by the", { addSpecial: false, parseSpecial: false });
    const straight = await library.open(context, config, {});
    library.prefill(straight, Int32Array.from([...ids, ...more]));
    const expected = await read(straight);

    await library.restoreSlot(stream, path);
    assert.deepEqual(await library.tokens(stream), ids);
    library.prefill(stream, more);
    assert.deepEqual(await read(stream), expected);
    assert.notDeepEqual(answer, expected);
    await library.close(stream);
    await library.close(straight);
  });

  test("belongs to its learned map", async () => {
    const { metadata: shape } = await readGguf(model);
    const of = (key: string) => Number(shape.get(`${String(shape.get("general.architecture"))}.${key}`));
    const layers = of("block_count");
    const headDim = of("attention.key_length") || of("embedding_length") / of("attention.head_count");
    const each = <T>(value: T): T[] => Array.from({ length: layers }, () => value);
    const tiny = {
      ...{ path: model, layers, heads: of("attention.head_count"), kvHeads: of("attention.head_count_kv") },
      ...{ vocabulary: 0, headDims: each(headDim), windows: each(0), sources: each(0).map((_, at) => at) },
    };
    const [one, other] = [join(folder, "one.map"), join(folder, "other.map")];
    await writeRandomMap(one, tiny, { metadata: { "map.sha256": "1".repeat(64) } });
    await writeRandomMap(other, tiny, { metadata: { "map.sha256": "2".repeat(64) } });
    const path = join(folder, "mapped.slot");
    const open = (kvMap?: string) => library.open(context, config, kvMap ? { kv_map: kvMap } : {});

    const mapped = await open(one);
    const ids = library.tokenize(mapped, story, { addSpecial: true, parseSpecial: true });
    library.prefill(mapped, ids);
    const first = await read(mapped);
    await library.saveSlot(mapped, path);
    library.prefill(mapped, ids.subarray(1, 4));
    const next = await read(mapped);
    await library.close(mapped);

    for (const [kvMap, words] of [
      [other, /learned map: 1{24}, here it is 2{24}/],
      [undefined, /learned map: 1{24}, here it is none/],
    ] as const) {
      const strange = await open(kvMap);
      await assert.rejects(library.restoreSlot(strange, path), code("SLOT_MISMATCH", words));
      await library.close(strange);
    }
    const again = await open(one);
    await library.restoreSlot(again, path);
    assert.equal((await library.tokens(again)).length, ids.length + first.length);
    library.prefill(again, ids.subarray(1, 4));
    assert.deepEqual(await read(again), next);
    await library.close(again);
  });
});
