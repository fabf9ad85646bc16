import { TRELLIS_DATA } from "./codebooks.data.ts";
import { type TrellisCodebook, type TrellisRate, trellisCodebook } from "./trellis-codebook.ts";

/** The committed codebooks, rates 1 to 6 in order. */
export const TRELLIS_CODEBOOKS: readonly TrellisCodebook[] = TRELLIS_DATA.map(({ rate, values, step }) =>
  trellisCodebook(rate, Int8Array.from(values), step),
);

/** The codebook of a rate. */
export function codebookOf(rate: TrellisRate): TrellisCodebook {
  return TRELLIS_CODEBOOKS[rate - 1]!;
}
