import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { InferenceError } from "../../src/errors.ts";
import { calibrate, Inference, pullModel, resolveModel, type Session } from "../../src/index.ts";
import { libraryUnderTest, picoModel as model } from "./engine-under-test.ts";

const libraryPath = await libraryUnderTest();

type Loose = (...values: unknown[]) => unknown;
const strange = [3, -1, 2 ** 53, 5n, true, null, Symbol("x"), {}, [], () => 1, new Date(), Number.NaN];

async function refused(use: () => unknown, what: string, code = "INVALID_ARGUMENT"): Promise<InferenceError> {
  try {
    await use();
  } catch (error) {
    assert.ok(error instanceof InferenceError, `${what}: ${(error as Error)?.stack}`);
    assert.equal(error.code, code, `${what}: ${error.message}`);
    assert.notEqual(error.hint, "", what);
    return error;
  }
  assert.fail(`${what} was taken`);
}

describe("values of a wrong type are refused by name, and never reach the library", () => {
  let inference: Inference;
  let session: Session;
  before(async () => {
    inference = await Inference.open(model, { libraryPath, contextSize: 256, threads: 1, maxStreams: 2 });
    session = await inference.session();
  });
  after(async () => {
    await session.close();
    await inference.close();
  });

  test("where a model is named", async () => {
    for (const wrong of [undefined, ...strange, "", "a\0b"]) {
      for (const open of [Inference.open, resolveModel, calibrate, pullModel] as Loose[]) {
        await refused(() => open.call(Inference, wrong), `${open.name} ${String(wrong)}`);
      }
    }
  });

  test("in the options of open", async () => {
    const strings = ["cacheTypeK", "cacheTypeV", "kvMap", "libraryPath"];
    const numbers = ["contextSize", "threads", "gpuLayers", "batchSize", "ubatchSize", "maxStreams"];
    for (const [names, also] of [
      [strings, strange],
      [numbers, [...strange.filter((value) => typeof value !== "number"), "3", 0.5, Number.NaN, 2 ** 53]],
    ] as const) {
      for (const name of names) {
        for (const wrong of also) {
          const error = await refused(
            () => Inference.open(model, { libraryPath, [name]: wrong } as never),
            name,
          );
          assert.match(error.message, new RegExp(`^${name} is `));
        }
      }
    }
    for (const wrong of strange.filter((value) => typeof value !== "object" || value === null)) {
      await refused(() => Inference.open(model, wrong as never), `options ${String(wrong)}`);
    }
  });

  test("in what a stream, a session and a generation are given", async () => {
    const loose = inference as unknown as Record<string, Loose>;
    for (const wrong of [undefined, ...strange.filter((value) => !Array.isArray(value))]) {
      await refused(() => inference.stream(wrong as never).text(), `prompt ${String(wrong)}`);
      await refused(() => session.generate(wrong as never).text(), `generate ${String(wrong)}`);
      await refused(() => session.save(wrong as never), `save ${String(wrong)}`);
      await refused(() => session.restore(wrong as never), `restore ${String(wrong)}`);
      await refused(() => loose.tokenize!(wrong), `tokenize ${String(wrong)}`);
      await refused(() => loose.detokenize!(wrong), `detokenize ${String(wrong)}`);
    }
    await refused(() => session.rewind("3" as never), "rewind");
    for (const use of [
      () => inference.tokenize("a\0b"),
      () => inference.stream("a\0b").text(),
      () => inference.stream([{ role: "user", content: "a\0b" }]).text(),
      () => session.generate("a\0b").text(),
    ]) {
      assert.match((await refused(use, "a NUL in a text")).message, /U\+0000/);
    }
    await refused(() => inference.detokenize([1, 2 ** 40]), "an id of 64 bits");
    await refused(() => inference.stream("x", { temperature: "0.7" } as never).text(), "temperature");
    await refused(() => inference.stream("x", { signal: {} } as never).text(), "signal");
    await refused(() => inference.stream("x", { chat: [] } as never).text(), "chat");
    await refused(() => inference.session({ seed: -1 }), "seed");
  });

  test("a misspelt option is refused with the nearest name", async () => {
    const hint = async (use: () => unknown, expected: RegExp) =>
      assert.match((await refused(use, String(expected))).hint, expected);
    await hint(() => Inference.open(model, { cacheTypek: "q8_0" } as never), /Did you mean cacheTypeK\?/);
    await hint(() => Inference.open(model, { nCtx: 1 } as never), /Its options: contextSize, /);
    await hint(() => inference.stream("x", { max_tokens: 1 } as never).text(), /maxTokens/);
    await hint(() => inference.session({ temprature: 1 } as never), /temperature/);
    await hint(() => session.generate("x", { signl: 1 } as never).text(), /signal/);
    await hint(() => inference.tokenize("x", { addspecial: true } as never), /addSpecial/);
  });

  test("options that make no sense together say so", async () => {
    const error = await refused(() => inference.stream("x", { topP: 0.9 }).text(), "topP alone");
    assert.match(error.message, /topP has no effect at temperature 0/);
    await refused(() => inference.session({ topK: 40, temperature: 0 }), "topK and temperature 0");
    await refused(
      () => Inference.open(model, { ubatchSize: 1024 }),
      "ubatchSize above the default batchSize",
    );
  });

  test("after close, everything is CLOSED", async () => {
    const other = await Inference.open(model, { libraryPath, contextSize: 256, threads: 1 });
    const stream = other.stream("x");
    const held = await other.session();
    await other.close();
    for (const use of [
      () => stream.text(),
      () => other.stream("x").text(),
      () => other.session(),
      () => other.tokenize("x"),
      () => other.detokenize([1]),
      () => held.generate("x").text(),
      () => held.save("/tmp/x"),
    ]) {
      await refused(use, String(use), "CLOSED");
    }
  });

  test("open is stopped by its signal, before and while it loads", async () => {
    for (const signal of [AbortSignal.abort("no"), AbortSignal.timeout(1)]) {
      const error = await refused(() => Inference.open(model, { libraryPath, signal }), "open", "CANCELLED");
      assert.equal(error.cause, signal.reason);
      assert.equal(error.name, "AbortError");
    }
  });

  test("a long text is tokenized beside the event loop, to the same tokens", async () => {
    const piece = "the keeper of the light walks down to the sea\n";
    const long = piece.repeat(4000);
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    const ids = await inference.tokenize(long);
    clearInterval(timer);
    assert.ok(turns > 0, "the event loop stood still");
    assert.equal(await inference.detokenize(ids), long);
  });

  test("a cancelled generation throws an AbortError by name, with the code CANCELLED", async () => {
    const error = await refused(
      () => inference.stream("x", { signal: AbortSignal.abort() }).text(),
      "aborted",
      "CANCELLED",
    );
    assert.equal(error.name, "AbortError");
  });
});
