import assert from "node:assert/strict";
import { test } from "node:test";
import { integerRange } from "../../src/grammar/integer-range.ts";

/** The same language as a regular expression: GBNF's literals, classes, counts and brackets are its own. */
function pattern(gbnf: string): RegExp {
  return new RegExp(`^(?:${gbnf.replaceAll('"', "").replaceAll(" ", "")})$`);
}

test("a range allows its integers and no others", () => {
  const bounds = [-1234, -100, -99, -10, -1, 0, 1, 5, 9, 10, 42, 99, 100, 101, 899, 1000, 1099, 2345];
  for (const low of bounds) {
    for (const high of bounds) {
      if (low > high) {
        assert.throws(() => integerRange(low, high), RangeError);
        continue;
      }
      const allowed = pattern(integerRange(low, high));
      for (let value = -2500; value <= 2500; value++) {
        assert.equal(
          allowed.test(String(value)),
          value >= low && value <= high,
          `${value} in ${low}…${high}`,
        );
      }
      for (const text of ["-0", "01", "007", "", "-", "1.0"]) assert.ok(!allowed.test(text), text);
    }
  }
});

test("without a bound, numbers end at 15 digits", () => {
  const all = pattern(integerRange());
  for (const text of ["0", "-1", "999999999999999", "-999999999999999"]) assert.ok(all.test(text), text);
  assert.ok(!all.test("1000000000000000"));
  const positive = pattern(integerRange(1));
  assert.ok(positive.test("123456789012345") && !positive.test("0") && !positive.test("-5"));
  assert.ok(pattern(integerRange(undefined, Number.MAX_SAFE_INTEGER)).test("-7"));
});
