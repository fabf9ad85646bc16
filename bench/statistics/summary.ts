export interface Summary {
  median: number;
  minimum: number;
  maximum: number;
  count: number;
}

/** Median and range of measurements; NaN for none. */
export function summarise(values: readonly number[]): Summary {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const median =
    sorted.length === 0 ? Number.NaN : (sorted[Math.ceil(middle) - 1]! + sorted[Math.floor(middle)]!) / 2;
  return {
    median,
    minimum: sorted[0] ?? Number.NaN,
    maximum: sorted.at(-1) ?? Number.NaN,
    count: sorted.length,
  };
}

/** "12.3 (11.9–12.8)" */
export function show({ median, minimum, maximum }: Summary, digits = 1): string {
  return `${median.toFixed(digits)} (${minimum.toFixed(digits)}–${maximum.toFixed(digits)})`;
}
