/** Digits that an integer of a schema without bounds may have: all of them are safe integers. */
const MOST_DIGITS = 15;

/**
 * GBNF for the decimal integers from `low` to `high`, both allowed, without leading zeros or "-0"; a bound that is
 * missing ends at 15 digits.
 *
 * @throws RangeError where low > high
 */
export function integerRange(low?: number, high?: number): string {
  const limit = 10 ** MOST_DIGITS - 1;
  const [least, most] = [Math.max(low ?? -limit, -limit), Math.min(high ?? limit, limit)];
  if (least > most) throw new RangeError(`no integer lies between ${least} and ${most}`);
  const branches: string[] = [];
  if (least < 0) {
    const magnitude = magnitudes(Math.max(1, -most), -least);
    if (magnitude !== undefined) branches.push(`"-" (${magnitude})`);
  }
  if (most >= 0) {
    if (least <= 0) branches.push('"0"');
    const magnitude = most > 0 ? magnitudes(Math.max(1, least), most) : undefined;
    if (magnitude !== undefined) branches.push(magnitude);
  }
  return branches.join(" | ");
}

/** Those from `low` to `high`, both above 0. */
function magnitudes(low: number, high: number): string | undefined {
  if (low > high) return undefined;
  const branches: string[] = [];
  for (let digits = String(low).length; digits <= String(high).length; digits++) {
    const from = Math.max(low, 10 ** (digits - 1));
    const to = Math.min(high, 10 ** digits - 1);
    branches.push(...sameLength(String(from), String(to)));
  }
  return branches.join(" | ");
}

/** Sequences for the numbers from `low` to `high`, written with as many digits each. */
function sameLength(low: string, high: string): string[] {
  const rest = low.length - 1;
  if (low === "0".repeat(low.length) && high === "9".repeat(high.length)) return [any(low.length)];
  if (rest === 0) return [digit(Number(low), Number(high))];
  const [first, last] = [Number(low[0]), Number(high[0])];
  const behind = (lead: number, from: string, to: string): string[] =>
    sameLength(from, to).map((tail) => `"${lead}" ${tail}`);
  if (first === last) return behind(first, low.slice(1), high.slice(1));
  const [zeros, nines] = ["0".repeat(rest), "9".repeat(rest)];
  const lowIsWhole = low.slice(1) === zeros;
  const highIsWhole = high.slice(1) === nines;
  const [from, to] = [lowIsWhole ? first : first + 1, highIsWhole ? last : last - 1];
  return [
    ...(lowIsWhole ? [] : behind(first, low.slice(1), nines)),
    ...(from <= to ? [`${digit(from, to)} ${any(rest)}`] : []),
    ...(highIsWhole ? [] : behind(last, zeros, high.slice(1))),
  ];
}

function digit(from: number, to: number): string {
  return from === to ? `"${from}"` : `[${from}-${to}]`;
}

function any(count: number): string {
  return count === 1 ? "[0-9]" : `[0-9]{${count}}`;
}
