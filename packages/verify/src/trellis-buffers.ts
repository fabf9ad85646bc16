import { codebookOf, type KvFormat } from "@eliza-inference/codecs";

const RATES = [1, 2, 3, 4, 5, 6] as const;
const UNIT = 16;
const TAIL_BITING = 256;

let codebooks: Int8Array | undefined;

/** The kernels' codebook buffer: int8 [6][512], by bits a symbol. */
export function trellisCodebooks(): Int8Array {
  if (codebooks) return codebooks;
  codebooks = new Int8Array(RATES.length * 512);
  for (const rate of RATES) codebooks.set(codebookOf(rate).values, (rate - 1) * 512);
  return codebooks;
}

/** The kernels' description of a row: four words for each unit of sixteen values, and the bytes of a row. */
export function trellisUnits(kv: KvFormat): Uint32Array {
  const units = new Uint32Array((kv.headDim / UNIT + 1) * 4);
  const steps = new Float32Array(units.buffer);
  for (const tile of kv.tiles) {
    const perTile = tile.width / UNIT;
    const codebook = codebookOf(tile.rate as (typeof RATES)[number]);
    const prefixed = tile.kind === "trellis_prefixed";
    for (let unit = 0; unit < perTile; unit++) {
      const at = (tile.dim / UNIT + unit) * 4;
      units[at] = tile.byte;
      units[at + 1] = unit;
      units[at + 2] = tile.rate + (!prefixed && unit === perTile - 1 ? TAIL_BITING : 0);
      // elizaOS' format keeps the length of a tile, the others the size of its values.
      steps[at + 3] = prefixed ? Math.fround(codebook.step * Math.fround(Math.sqrt(1 / 128))) : codebook.step;
    }
  }
  units[units.length - 4] = kv.rowBytes;
  return units;
}
