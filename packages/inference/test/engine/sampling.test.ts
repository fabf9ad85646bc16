import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { InferenceError } from "../../src/errors.ts";
import { Inference } from "../../src/inference.ts";
import type { SamplingOptions } from "../../src/options.ts";
import type { TokenLogprob } from "../../src/token-stream.ts";
import { libraryUnderTest, picoModel } from "./engine-under-test.ts";

const prompt = "Once upon a time there was a";

describe("how tokens are drawn", () => {
  let inference: Inference;
  before(async () => {
    inference = await Inference.open(picoModel, { libraryPath: await libraryUnderTest(), contextSize: 256 });
  });
  after(() => inference.close());

  const draw = async (
    options: SamplingOptions,
  ): Promise<{ text: string; ids: number[]; logprobs: TokenLogprob[] }> => {
    const all = { text: "", ids: [] as number[], logprobs: [] as TokenLogprob[] };
    for await (const chunk of inference.stream(prompt, { maxTokens: 12, ...options })) {
      all.text += chunk.text;
      all.ids.push(...chunk.tokens);
      all.logprobs.push(...(chunk.logprobs ?? []));
    }
    return all;
  };
  /** The first token of many draws, and how often each came. */
  const firsts = async (options: SamplingOptions, draws = 200): Promise<Map<number, number>> => {
    const counts = new Map<number, number>();
    await using session = await inference.session({ maxTokens: 1, temperature: 1 });
    for (let seed = 1; seed <= draws; seed++) {
      await session.rewind(0);
      for await (const { tokens } of session.generate(prompt, { ...options, seed })) {
        for (const id of tokens) counts.set(id, (counts.get(id) ?? 0) + 1);
      }
    }
    return counts;
  };

  test("log probabilities are the model's own, in order, and those of the tokens that came", async () => {
    const { ids, logprobs } = await draw({ logprobs: 20 });
    assert.deepEqual(
      logprobs.map(({ token }) => token),
      ids,
    );
    for (const { token, logprob, top } of logprobs) {
      assert.equal(top.length, 20);
      assert.deepEqual(top[0], { token, logprob }, "greedy takes the likeliest");
      for (const [at, { logprob: each }] of top.entries())
        assert.ok(at === 0 || each <= top[at - 1]!.logprob);
      const sum = top.reduce((total, each) => total + Math.exp(each.logprob), 0);
      assert.ok(sum > 0.3 && sum <= 1 + 1e-9, `${sum}`);
    }
    assert.deepEqual((await draw({})).logprobs, []);
    assert.deepEqual(
      (await draw({ logprobs: 0 })).logprobs.map(({ top }) => top),
      ids.map(() => []),
    );
    const biased = await draw({ logprobs: 1, maxTokens: 1, logitBias: { [ids[0]!]: -1000 } });
    assert.equal(biased.logprobs[0]!.top[0]!.token, ids[0], "before any sampler");
  });

  test("draws at temperature 1 follow the log probabilities", async () => {
    const { logprobs } = await draw({ logprobs: 20, maxTokens: 1 });
    const counts = await firsts({});
    for (const { token, logprob } of logprobs[0]!.top.slice(0, 3)) {
      const [p, n] = [Math.exp(logprob), 200];
      const found = (counts.get(token) ?? 0) / n;
      assert.ok(
        Math.abs(found - p) < 5 * Math.sqrt((p * (1 - p)) / n),
        `token ${token}: ${found}, by the model ${p}`,
      );
    }
  });

  test("a logit bias takes tokens away, and brings them", async () => {
    const { ids, logprobs } = await draw({ logprobs: 3, maxTokens: 1 });
    const second = logprobs[0]!.top[1]!.token;
    assert.deepEqual((await draw({ maxTokens: 1, logitBias: { [ids[0]!]: -1000 } })).ids, [second]);
    assert.deepEqual((await draw({ maxTokens: 3, logitBias: { 300: 1000 } })).ids, [300, 300, 300]);
  });

  test("a presence penalty lets nothing come twice within its reach", async () => {
    const { ids } = await draw({ presencePenalty: 100, penaltyLastN: 200, maxTokens: 40 });
    assert.equal(new Set(ids).size, ids.length);
    const near = await draw({ presencePenalty: 100, penaltyLastN: 2, maxTokens: 40 });
    assert.ok(new Set(near.ids).size < near.ids.length, "beyond its reach tokens come again");
    for (let at = 1; at < near.ids.length; at++) assert.notEqual(near.ids[at], near.ids[at - 1]);
  });

  test("a frequency penalty costs what its formula says", async () => {
    // Two tokens are raised to far above the others, one a little higher: it comes until its count times the penalty
    // outweighs the difference.
    const logitBias = { 300: 500, 301: 500.0 };
    const { logprobs } = await draw({ logprobs: 20, maxTokens: 1, logitBias });
    assert.equal(logprobs.length, 1);
    const { ids } = await draw({ logitBias, frequencyPenalty: 100, penaltyLastN: 200, maxTokens: 4 });
    assert.equal(ids.filter((id) => id === 300).length, 2);
    assert.equal(ids.filter((id) => id === 301).length, 2);
  });

  test("top-k, typical, top-p, min-p and XTC leave out what they are to", async () => {
    const { logprobs } = await draw({ logprobs: 20, maxTokens: 1 });
    const top = logprobs[0]!.top.map(({ token, logprob }) => ({ token, p: Math.exp(logprob) }));
    const onlyFrom = (counts: Map<number, number>, allowed: number[]): void => {
      for (const token of counts.keys()) assert.ok(allowed.includes(token), `${token} of ${allowed}`);
    };
    onlyFrom(
      await firsts({ topK: 2 }),
      top.slice(0, 2).map(({ token }) => token),
    );
    const minP = top.filter(({ p }) => p >= 0.3 * top[0]!.p).map(({ token }) => token);
    onlyFrom(await firsts({ minP: 0.3 }), minP);
    let sum = 0;
    const nucleus = top.filter(({ p }) => {
      const isIn = sum < 0.3;
      sum += p;
      return isIn;
    });
    onlyFrom(
      await firsts({ topP: 0.3 }),
      nucleus.map(({ token }) => token),
    );
    const threshold = 0.9 * top[2]!.p; // three are likely
    const without = await firsts({ xtc: { probability: 1, threshold } });
    for (const { token } of top.filter(({ p }) => p >= threshold).slice(0, -1)) {
      assert.equal(without.get(token), undefined);
    }
    const all = await firsts({});
    assert.ok((await firsts({ typicalP: 0.2 })).size < all.size);
  });

  test("DRY ends a repetition that greedy goes on with", async () => {
    const logitBias = { 300: 500, 301: 490 };
    const drawn = async (dry?: SamplingOptions["dry"]): Promise<number[]> =>
      (await draw({ maxTokens: 8, logitBias, ...(dry && { dry }) })).ids;
    assert.deepEqual(await drawn(), Array(8).fill(300));
    const dry = { multiplier: 1, base: 10, allowedLength: 2, breakers: [] };
    // 1 · 10^(length − 2): the third repeated token costs 10 and more than the 10 between the two
    const ids = await drawn(dry);
    assert.deepEqual(ids.slice(0, 3), [300, 300, 300]);
    assert.ok(ids.includes(301), `${ids}`);
    assert.deepEqual(await drawn({ ...dry, lastN: 1 }), Array(8).fill(300));
    assert.deepEqual(await drawn({ ...dry, allowedLength: 100 }), Array(8).fill(300));
  });

  test("mirostat draws by its seed, and near the likeliest where little surprise is asked for", async () => {
    for (const version of [1, 2] as const) {
      const options = { temperature: 1, mirostat: { version, tau: 5 }, seed: 4 };
      assert.deepEqual((await draw(options)).ids, (await draw(options)).ids);
      assert.notDeepEqual((await draw({ ...options, seed: 5 })).ids, (await draw(options)).ids);
    }
    const calm = await draw({
      temperature: 1,
      mirostat: { version: 2, tau: 0.01, eta: 1 },
      seed: 4,
      maxTokens: 30,
    });
    const greedy = await draw({ maxTokens: 30, logprobs: 1 });
    const wild = await draw({ temperature: 1, seed: 4, maxTokens: 30 });
    const likelyOf = (ids: number[]): number => ids.filter((id, at) => id === greedy.ids[at]).length;
    assert.ok(likelyOf(calm.ids) >= likelyOf(wild.ids));
  });

  test("a grammar holds greedy and drawn text, and ends it", async () => {
    const grammar = 'root ::= "the " ("cat" | "dog") " sat" [.!]';
    for (const options of [{}, { temperature: 2, seed: 9 }, { temperature: 1, topK: 1, seed: 1 }]) {
      const stream = inference.stream(prompt, { grammar, ...options });
      assert.match(await stream.text(), /^the (cat|dog) sat[.!]$/);
      assert.equal((await stream.report()).finishReason, "stop");
    }
    const words = await inference.stream(prompt, { grammar: 'root ::= [a-c]{3} "\n"', maxTokens: 10 }).text();
    assert.match(words, /^[a-c]{3}\n$/);
  });

  test("a session's grammar holds each of its generations but one that has its own", async () => {
    await using session = await inference.session({ grammar: 'root ::= "yes" | "no"', maxTokens: 9 });
    assert.match(await session.generate(prompt).text(), /^(yes|no)$/);
    assert.match(
      await session.generate(" and", { grammar: "root ::= [0-9]+", maxTokens: 3 }).text(),
      /^[0-9]+$/,
    );
    assert.match(await session.generate(" and", { jsonSchema: { type: "boolean" } }).text(), /^(true|false)/);
    assert.match(await session.generate(" and").text(), /^(yes|no)$/);
  });

  test("stop strings hold streams that are not sessions", async () => {
    const { text } = await draw({ maxTokens: 30 });
    const stop = text.slice(8, 12);
    assert.equal(
      await inference.stream(prompt, { maxTokens: 30, stop: [stop] }).text(),
      text.slice(0, text.indexOf(stop)),
    );
  });

  test("what is not understood is refused, and the next generation runs", async () => {
    const refuses = (options: Record<string, unknown>, words: RegExp): Promise<void> =>
      assert.rejects(inference.stream(prompt, { maxTokens: 2, ...options }).text(), (error: unknown) => {
        assert.ok(error instanceof InferenceError, String(error));
        assert.equal(error.code, "INVALID_ARGUMENT");
        assert.match(error.message, words);
        return true;
      });
    await refuses({ grammar: "root ::= (" }, /grammar is not understood: expecting/);
    await refuses({ grammar: 'start ::= "x"' }, /grammar/);
    await refuses({ grammar: 'root ::= root "x"' }, /grammar/);
    await refuses({ grammar: "root ::= other" }, /grammar/);
    await refuses({ grammar: `root ::= ${"(".repeat(100)}"x"${")".repeat(100)}` }, /64 brackets/);
    await refuses(
      { grammar: `root ::= "x"\n${Array.from({ length: 5000 }, (_, i) => `r${i} ::= "x"`).join("\n")}` },
      /4000 rules/,
    );
    await refuses({ grammar: `root ::= "${"x".repeat(300_000)}"` }, /grammar/);
    await refuses({ grammar: 'root ::= "x"{3000}' }, /grammar/);
    await refuses({ grammar: 'root ::= "x" { 3 , 1 }' }, /repeats something \{3,1\}/);
    await refuses({ grammar: 'root ::= "x"{99999999999999999999,}' }, /grammar/);
    // alternatives that name the same rule again and again, forty rules deep: 3^40 ways
    const deep = Array.from({ length: 40 }, (_, i) => `r${i} ::= r${i + 1} | r${i + 1} | r${i + 1}`);
    const grammar = ["root ::= r0", ...deep, 'r40 ::= "x"'].join("\n");
    assert.equal(await inference.stream(prompt, { grammar }).text(), "x");
    await refuses({ logitBias: { 100000000: 1 } }, /token 100000000/);
    await refuses({ logitBias: { 5: 5000 } }, /logitBias of token 5/);
    await refuses({ logitBias: { x: 1 } }, /logitBias/);
    await refuses({ logprobs: 21 }, /logprobs/);
    await refuses({ dry: {} }, /dry has no multiplier/);
    await refuses({ xtc: { probability: 0.5 } }, /xtc has no effect at temperature 0/);
    await refuses({ mirostat: { version: 3 }, temperature: 1 }, /version/);
    await refuses({ dry: { multiplier: 1, breakers: [""] } }, /breakers/);
    await refuses({ grammar: 'root ::= "x"', jsonSchema: true }, /grammar and a jsonSchema/);
    assert.notEqual(await inference.stream(prompt, { maxTokens: 2 }).text(), "");
  });
});
