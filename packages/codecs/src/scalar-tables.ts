import { type ScalarTable, symmetricTable } from "./scale-search.ts";

const UNIT_128 = Math.fround(0.08838834764831845);

/** turbo4: 16 centroids for N(0, 1). */
export const TURBO4_TABLE: ScalarTable = symmetricTable(
  [0.1283243, 0.3878412, 0.6564307, 0.9419147, 1.2557391, 1.6175243, 2.0685055, 2.7321365],
  [0.2580828, 0.522136, 0.7991727, 1.0988269, 1.4366317, 1.8430149, 2.400321],
  1,
);

/** tbq3: 8 centroids for N(0, 1); thresholds are the midpoints. */
export const TBQ3_TABLE: ScalarTable = symmetricTable(
  [0.2450942, 0.7560053, 1.3439093, 2.1519457],
  [0.50054975, 1.0499573, 1.7479275],
  1,
);

/** turbo3: 8 centroids for N(0, 1/128). */
export const TURBO3_TABLE: ScalarTable = symmetricTable(
  [0.02146, 0.065717, 0.117832, 0.190685],
  [0.043589, 0.091775, 0.154259],
  UNIT_128,
);

/** q4_polar: 16 centroids for N(0, 1), not fully converged, as elizaOS has them. */
export const POLAR_TABLE: ScalarTable = symmetricTable(
  [0.131757782, 0.397897103, 0.672392117, 0.962640978, 1.279739752, 1.64304151, 2.093562707, 2.754354807],
  [0.264827443, 0.53514461, 0.817516548, 1.121190365, 1.461390631, 1.868302108, 2.423958757],
  1,
);
