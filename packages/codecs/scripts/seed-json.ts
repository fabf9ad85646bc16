/** A fixture's fields, in the order in which they are written. */
export interface JsonFields {
  readonly [name: string]: string | number | Uint8Array | Float32Array | Float64Array | readonly JsonFields[];
}

/** A number as C prints it with %.`digits`g. */
function printed(value: number, digits: number): string {
  if (value === 0) return Object.is(value, -0) ? "-0" : "0";
  const exponent = Number(value.toExponential(digits - 1).split("e")[1]);
  if (exponent >= -5 && exponent < digits) {
    const text = value.toFixed(Math.max(0, digits - 1 - exponent));
    return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
  }
  const [mantissa, power] = value.toExponential(digits - 1).split("e") as [string, string];
  const short = mantissa.includes(".") ? mantissa.replace(/\.?0+$/, "") : mantissa;
  return `${short}e${power.startsWith("-") ? "-" : "+"}${power.slice(1).padStart(2, "0")}`;
}

function valueText(value: JsonFields[string]): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "number") return Number.isInteger(value) ? String(value) : printed(value, 9);
  if (value instanceof Uint8Array) return `[${value.join(",")}]`;
  if (value instanceof Float32Array || value instanceof Float64Array) {
    return `[${Array.from(value, (element) => printed(element, 7)).join(",")}]`;
  }
  return `[\n${value.map((fields) => objectText(fields)).join(",\n")}\n]`;
}

function objectText(fields: JsonFields): string {
  return `{\n${Object.entries(fields)
    .map(([name, value]) => `${JSON.stringify(name)}: ${valueText(value)}`)
    .join(",\n")}\n}`;
}

/** JSON with one field a line; floats with seven digits, bytes as decimal arrays, as elizaOS writes them. */
export function fixtureJson(fields: JsonFields): string {
  return `${objectText(fields)}\n`;
}
