import type { Score } from "../cache-types/quality-tool.ts";

/** A share and half of its 95 % interval. */
export interface Share {
  share: number;
  halfWidth: number;
}

/**
 * One cache's divergence as a share of another's on the same positions, with the interval of a ratio of paired means
 * (the delta method over blocks of 64 positions): the text's own ups and downs, which both share, fall out.
 */
export function pairedShare(row: Score, base: Score): Share {
  const [ours, theirs] = [row.klBlocks, base.klBlocks];
  const share = row.kl / base.kl;
  const n = Math.min(ours.length, theirs.length);
  let squares = 0;
  for (let i = 0; i < n; i++) squares += (ours[i]! - share * theirs[i]!) ** 2;
  return { share, halfWidth: n > 1 ? (1.96 * Math.sqrt(squares / (n * (n - 1)))) / base.kl : 0 };
}
