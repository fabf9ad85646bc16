import type { Score } from "../cache-types/quality-tool.ts";
import { blocksOf } from "./results.ts";

/** A share and half of its 95 % interval. */
export interface Share {
  share: number;
  halfWidth: number;
}

/**
 * One cache's divergence as a share of another's on the same positions, with the interval of a ratio of paired means
 * (the delta method over blocks of 64 positions): the text's own ups and downs, which both share, fall out.
 * `noise` is taken from both.
 */
export function pairedShare(row: Score, base: Score, noise = 0): Share {
  const [ours, theirs] = [blocksOf(row), blocksOf(base)];
  const below = base.kl - noise;
  const share = (row.kl - noise) / below;
  const n = Math.min(ours.length, theirs.length);
  let squares = 0;
  for (let i = 0; i < n; i++) squares += (ours[i]! - noise - share * (theirs[i]! - noise)) ** 2;
  return { share, halfWidth: n > 1 ? (1.96 * Math.sqrt(squares / (n * (n - 1)))) / Math.abs(below) : 0 };
}
