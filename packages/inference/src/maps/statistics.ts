import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { InferenceError } from "../errors.ts";
import { type GgufFile, type GgufTensor, readGguf } from "../gguf/index.ts";
import { invalidMap, mapMismatch } from "./map-errors.ts";
import type { Rope, RopePairs } from "./spread.ts";

/** The format of the file that `calibrate` writes. */
export const statisticsVersion = 1;

/** Of one kv head: second moments are not centred, d × d. */
export interface HeadStatistics {
  keyWeight: number;
  keySum: Float64Array;
  keySecond: Float64Array;
  querySecond: Float64Array;
  valueWeight: number;
  valueSum: Float64Array;
  valueSecond: Float64Array;
  outputSecond: Float64Array;
}

/** By layer of the model. */
export interface LayerArrays {
  source: readonly number[];
  kvHeads: readonly number[];
  headDimK: readonly number[];
  headDimV: readonly number[];
  window: readonly number[];
}

/** What a model's keys, values and queries are like over a text, as `calibrate` wrote it down. */
export class Statistics {
  readonly path: string;
  readonly sha256: string;
  readonly modelSha256: string;
  readonly textSha256: string;
  readonly modelName: string;
  readonly tokens: number;
  /** Tokens that the model saw at once. */
  readonly window: number;
  /** The exact window whose pairs were left out: the latest tokens before a query, and the first of a text. */
  readonly exactTokens: number;
  readonly exactSinks: number;
  /** Of attention's scores; 0 for none. */
  readonly softcap: number;
  readonly layers: LayerArrays;
  readonly #ropes: readonly number[];
  readonly #file: GgufFile;
  readonly #tensors: ReadonlyMap<string, GgufTensor>;

  private constructor(file: GgufFile, sha256: string) {
    this.path = file.path;
    this.#file = file;
    this.sha256 = sha256;
    if (this.#text("general.type") !== "kv-statistics") throw invalidMap(file.path, "it holds no statistics");
    const version = this.#number("statistics.version");
    if (version !== statisticsVersion) {
      throw mapMismatch(
        file.path,
        `its format has version ${version}, this program reads ${statisticsVersion}`,
      );
    }
    this.modelSha256 = this.#text("statistics.model_sha256");
    this.textSha256 = this.#text("statistics.text_sha256");
    this.modelName = this.#text("general.name");
    this.tokens = this.#number("statistics.tokens");
    this.window = this.#number("statistics.window");
    this.exactTokens = this.#count("statistics.exact_tokens");
    this.exactSinks = this.#count("statistics.exact_sinks");
    this.softcap = this.#number("statistics.softcap");
    this.layers = {
      source: this.#numbers("layers.source"),
      kvHeads: this.#numbers("layers.kv_heads"),
      headDimK: this.#numbers("layers.head_dim_k"),
      headDimV: this.#numbers("layers.head_dim_v"),
      window: this.#numbers("layers.window"),
    };
    this.#ropes = this.#numbers("layers.rope");
    this.#tensors = new Map(file.tensors.map((tensor) => [tensor.name, tensor]));
    const { length } = this.layers.source;
    if (length === 0 || [...Object.values(this.layers), this.#ropes].some((each) => each.length !== length)) {
      throw invalidMap(file.path, "its layers are not described whole");
    }
  }

  /**
   * Reads the head of a file, and its hash.
   *
   * @throws InferenceError MAP_NOT_FOUND, MAP_INVALID, MAP_MISMATCH
   */
  static async open(path: string): Promise<Statistics> {
    let file: GgufFile;
    try {
      file = await readGguf(path);
    } catch (cause) {
      if (!(cause instanceof InferenceError)) throw cause;
      if (cause.code === "MODEL_NOT_FOUND") {
        throw new InferenceError(
          "MAP_NOT_FOUND",
          `${path} is not there`,
          "Check the path, or calibrate: eliza-inference calibrate MODEL",
          { cause },
        );
      }
      throw invalidMap(path, cause.message, cause);
    }
    const hash = createHash("sha256");
    await pipeline(createReadStream(path), hash);
    return new Statistics(file, hash.digest("hex"));
  }

  /** The layers that have a cache of their own. */
  cacheLayers(): number[] {
    return this.layers.source.flatMap((source, layer) => (source === layer ? [layer] : []));
  }

  /** Every kv head of a layer's cache. @throws InferenceError MAP_INVALID, MAP_MISMATCH */
  async heads(layer: number): Promise<{ heads: HeadStatistics[]; rope: Rope }> {
    const handle = await open(this.path, "r");
    try {
      return await this.#readHeads(handle, layer);
    } finally {
      await handle.close();
    }
  }

  async #readHeads(handle: FileHandle, layer: number): Promise<{ heads: HeadStatistics[]; rope: Rope }> {
    const [count, k, v] = [
      this.layers.kvHeads[layer] ?? 0,
      this.layers.headDimK[layer] ?? 0,
      this.layers.headDimV[layer] ?? 0,
    ];
    const read = (name: string, shape: readonly number[]) =>
      this.#tensor(handle, `blk.${layer}.${name}`, shape);
    const keyWeight = await read("key.weight", [count]);
    const keySum = await read("key.sum", [k, count]);
    const keySecond = await read("key.second", [k, k, count]);
    const querySecond = await read("query.second", [k, k, count]);
    const valueWeight = await read("value.weight", [count]);
    const valueSum = await read("value.sum", [v, count]);
    const valueSecond = await read("value.second", [v, v, count]);
    const outputSecond = await read("output.second", [v, v, count]);
    const heads = Array.from({ length: count }, (_, head): HeadStatistics => {
      const slice = (values: Float64Array, size: number) => values.subarray(head * size, (head + 1) * size);
      return {
        keyWeight: keyWeight[head]!,
        keySum: slice(keySum, k),
        keySecond: slice(keySecond, k * k),
        querySecond: slice(querySecond, k * k),
        valueWeight: valueWeight[head]!,
        valueSum: slice(valueSum, v),
        valueSecond: slice(valueSecond, v * v),
        outputSecond: slice(outputSecond, v * v),
      };
    });
    return { heads, rope: await this.#rope(handle, layer, k) };
  }

  async #rope(handle: FileHandle, layer: number, dimensions: number): Promise<Rope> {
    const kinds: readonly RopePairs[] = ["none", "neighbours", "halves"];
    const pairs = kinds[this.#ropes[layer] ?? -1];
    if (pairs === undefined) throw invalidMap(this.path, `layer ${layer} has an unknown kind of RoPE`);
    if (pairs === "none") return { pairs, frequencies: new Float64Array(0) };
    const name = `blk.${layer}.rope.frequencies`;
    const [length = 0] = this.#tensors.get(name)?.shape ?? [];
    if (2 * length > dimensions) throw invalidMap(this.path, `layer ${layer} turns more than its dimensions`);
    return { pairs, frequencies: await this.#tensor(handle, name, [length]) };
  }

  async #tensor(handle: FileHandle, name: string, shape: readonly number[]): Promise<Float64Array> {
    const tensor = this.#tensors.get(name);
    if (!tensor) throw mapMismatch(this.path, `it has no ${name}`);
    const trimmed = (sizes: readonly number[]) => sizes.join(" × ").replace(/( × 1)+$/, "");
    if (trimmed(tensor.shape) !== trimmed(shape)) {
      throw mapMismatch(this.path, `${name} is ${trimmed(tensor.shape)}, not ${trimmed(shape)}`);
    }
    if (tensor.type !== "f32" && tensor.type !== "f64") {
      throw invalidMap(this.path, `${name} has the type ${tensor.type}`);
    }
    const bytes = Buffer.alloc(tensor.bytes);
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, tensor.offset);
    if (bytesRead !== bytes.length) throw invalidMap(this.path, `it ends inside ${name}`);
    const values =
      tensor.type === "f64"
        ? new Float64Array(bytes.buffer, bytes.byteOffset, bytes.length / 8)
        : Float64Array.from(new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4));
    if (!values.every(Number.isFinite)) throw invalidMap(this.path, `${name} holds NaN or infinity`);
    return values;
  }

  #text(key: string): string {
    const value = this.#file.metadata.get(key);
    if (typeof value !== "string") throw invalidMap(this.#file.path, `it lacks ${key}`);
    return value;
  }

  #number(key: string): number {
    const value = this.#file.metadata.get(key);
    if (typeof value !== "number" || !Number.isFinite(value))
      throw invalidMap(this.#file.path, `it lacks ${key}`);
    return value;
  }

  /** 0 in files from before there was such a key. */
  #count(key: string): number {
    return this.#file.metadata.has(key) ? this.#number(key) : 0;
  }

  #numbers(key: string): number[] {
    const value = this.#file.metadata.get(key);
    const values = typeof value === "object" ? value.values : undefined;
    if (!values?.every((each): each is number => typeof each === "number")) {
      throw invalidMap(this.#file.path, `it lacks ${key}`);
    }
    return [...values];
  }
}
