import { STATES, type TrellisCodebook } from "./trellis-codebook.ts";

/** Cost of a state that a constrained run may not start from; no allowed path of a tile costs that much. */
const FORBIDDEN = 1 << 24;
const MAX_STEPS = 128;

const cost = new Int32Array(STATES);
const survivors = new Int32Array(STATES / 2);
const choices = new Uint8Array(MAX_STEPS * (STATES / 2));

/** The best path of a run. */
export interface TrellisPath {
  /** Its metric: Σ 2c² − X·c, an integer. */
  readonly cost: number;
  /** The states after each sample. Valid until the next run. */
  readonly states: Uint16Array;
}

const states = new Uint16Array(MAX_STEPS);

/**
 * Viterbi's algorithm over the bit-shift trellis s' = (s >> k) | (o << (9−k)) in 32-bit integers. Samples are
 * integers in quarter steps; the metric (X − 4c)²/8 without its constant is 2c² − X·c. On equal costs the
 * lowest predecessor wins, and the lowest final state. `anchor` forces the state before the first sample and
 * the last state to have it as their newest 9−k bits (tail-biting); −1 leaves both ends free.
 */
export function viterbi(codebook: TrellisCodebook, samples: Int32Array, anchor: number): TrellisPath {
  const { rate, values, bias } = codebook;
  const groups = STATES >> rate;
  const groupMask = groups - 1;
  const predecessors = 1 << rate;
  const choiceMask = predecessors - 1;
  const steps = samples.length;

  for (let j = 0; j < groups; j++) survivors[j] = anchor < 0 || j === anchor ? 0 : FORBIDDEN;
  choices.fill(0, 0, groups);
  for (let t = 0; t < steps; t++) {
    if (t > 0) {
      const row = t * groups;
      for (let j = 0, s = 0; j < groups; j++) {
        // Cost and predecessor in one word, so that one minimum finds both and ties go to the lowest.
        let best = cost[s++]! << rate;
        for (let p = 1; p < predecessors; p++) {
          best = Math.min(best, (cost[s++]! << rate) | p);
        }
        survivors[j] = best >> rate;
        choices[row + j] = best & choiceMask;
      }
    }
    const x = samples[t]!;
    for (let o = 0, s = 0; o < predecessors; o++) {
      for (let j = 0; j < groups; j++, s++) {
        cost[s] = survivors[j]! + bias[s]! - Math.imul(x, values[s]!);
      }
    }
  }

  const first = anchor < 0 ? 0 : anchor << rate;
  const end = anchor < 0 ? STATES : first + predecessors;
  let state = first;
  for (let s = first + 1; s < end; s++) if (cost[s]! < cost[state]!) state = s;
  const total = cost[state]!;
  for (let t = steps - 1; t >= 0; t--) {
    states[t] = state;
    const group = state & groupMask;
    state = (group << rate) | choices[t * groups + group]!;
  }
  return { cost: total, states: states.subarray(0, steps) };
}
