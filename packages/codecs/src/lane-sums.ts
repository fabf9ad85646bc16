const LANES = 16;
const lanes = new Float32Array(LANES);

function fold(): number {
  for (let half = LANES / 2; half >= 1; half /= 2) {
    for (let lane = 0; lane < half; lane++) lanes[lane]! += lanes[lane + half]!;
  }
  return lanes[0]!;
}

/**
 * Σ a[i]·b[i] in float32 over 16 lanes: lane l starts at +0 and takes elements l, l+16, l+32, … in
 * order, product rounded before the add; then lanes fold 16→8→4→2→1, lane l += lane l + half.
 * Both arrays have the same length, a multiple of 16.
 */
export function dotLanes(a: Float32Array, b: Float32Array): number {
  lanes.fill(0);
  for (let base = 0; base < a.length; base += LANES) {
    for (let lane = 0; lane < LANES; lane++) {
      lanes[lane]! += Math.fround(a[base + lane]! * b[base + lane]!);
    }
  }
  return fold();
}
