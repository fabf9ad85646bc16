/** A small fast generator with a fixed sequence for a seed: xorshift32 (Marsaglia 2003), period 2^32 − 1. */
export class Random {
  #state: number;
  constructor(seed: number) {
    this.#state = (Math.imul(seed, 0x9e3779b1) ^ 0x6d2b79f5) >>> 0 || 1;
    for (let i = 0; i < 8; i++) this.word();
  }

  word(): number {
    let x = this.#state;
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    this.#state = x >>> 0;
    return this.#state;
  }

  /** A whole number from 0 to `limit` − 1. */
  below(limit: number): number {
    return Math.floor((this.word() / 2 ** 32) * limit);
  }

  bytes(length: number): Uint8Array {
    const words = new Uint32Array(Math.ceil(length / 4));
    for (let i = 0; i < words.length; i++) words[i] = this.word();
    return new Uint8Array(words.buffer, 0, length);
  }

  /** `length` values of roughly normal distribution: sums of four uniform ones, variance 1. */
  floats(length: number): Float32Array {
    const out = new Float32Array(length);
    for (let i = 0; i < length; i++) {
      const sum = this.word() + this.word() + this.word() + this.word();
      out[i] = (sum / 2 ** 32 - 2) * Math.sqrt(3);
    }
    return out;
  }
}
