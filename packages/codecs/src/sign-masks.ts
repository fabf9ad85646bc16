/** The 32 signs of turbo4 and tbq3 (and of trellis tiles of 32); bit i set means element i keeps its sign. */
export const SIGNS_32: readonly number[] = [0xa5964b2d];

/**
 * The 128 signs before and after the Hadamard transform of turbo3 and the trellis; word w holds elements
 * 32w to 32w+31. They are numpy's `default_rng(42).choice([-1, 1], 128)`, drawn twice.
 */
export const SIGNS_1: readonly number[] = [0x1b95fca6, 0xbd07a6b6, 0x5b39c444, 0xb60daf56];
export const SIGNS_2: readonly number[] = [0xe953116f, 0xc09d7023, 0x485aca85, 0x415a9a9d];

/** The 128 signs of q4_polar's residual: xorshift32 (13, 17, 5) from state 42, low bit after each step. */
export const SIGNS_RESIDUAL: readonly number[] = [0x3a34cb04, 0xa3cbe854, 0xda7910f5, 0x972526b1];

/** The first `count` signs of a mask as ±1. */
export function expandSigns(mask: readonly number[], count: number): Float32Array {
  return Float32Array.from({ length: count }, (_, i) => ((mask[i >> 5]! >>> (i & 31)) & 1 ? 1 : -1));
}
