/**
 * Deterministic random numbers for the generator: sfc32 (Chris Doty-Humphrey's small fast counter, PractRand),
 * seeded through splitmix32 so that neighbouring seeds give unrelated streams.
 */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  /** @param seed any integers; the stream depends on all of them and on their order. */
  constructor(...seed: readonly number[]) {
    let state = 0x9e3779b9;
    const next = (): number => {
      state = (state + 0x9e3779b9) | 0;
      let z = state ^ (state >>> 16);
      z = Math.imul(z, 0x21f0aaad);
      z ^= z >>> 15;
      z = Math.imul(z, 0x735a2d97);
      return (z ^ (z >>> 15)) | 0;
    };
    for (const part of seed) state = next() ^ Math.imul(part | 0, 0x85ebca6b);
    this.#a = next();
    this.#b = next();
    this.#c = next();
    for (let i = 0; i < 12; i++) this.uint32();
  }

  /** A uniform integer in [0, 2^32). */
  uint32(): number {
    const t = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + t;
    return t >>> 0;
  }

  /** A uniform number in [0, 1). */
  uniform(): number {
    return this.uint32() / 4294967296;
  }

  /** A uniform integer in [low, high], both ends included. */
  int(low: number, high: number): number {
    return low + Math.floor(this.uniform() * (high - low + 1));
  }

  /** True with the given probability. */
  chance(probability: number): boolean {
    return this.uniform() < probability;
  }

  /** One element of a list that is not empty. */
  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.uniform() * list.length)]!;
  }

  /** One element, each in proportion to its weight. */
  weighted<T>(choices: readonly (readonly [T, number])[]): T {
    let total = 0;
    for (const [, weight] of choices) total += weight;
    let point = this.uniform() * total;
    for (const [value, weight] of choices) {
      point -= weight;
      if (point < 0) return value;
    }
    return choices[choices.length - 1]![0];
  }

  /** Fisher-Yates on the list itself. */
  shuffle<T>(list: T[]): T[] {
    for (let i = list.length - 1; i > 0; i--) {
      const j = this.int(0, i);
      const held = list[i]!;
      list[i] = list[j]!;
      list[j] = held;
    }
    return list;
  }

  /** Up to `count` different elements in random order. */
  sample<T>(list: readonly T[], count: number): T[] {
    return this.shuffle(list.slice()).slice(0, count);
  }
}
