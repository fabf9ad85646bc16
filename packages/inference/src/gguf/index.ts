export type { GgufArray, GgufValue } from "./gguf-values.ts";
export type { GgufFile, GgufTensor, ReadGgufOptions } from "./read-gguf.ts";
export { readGguf, readGgufIntegers, readGgufStrings } from "./read-gguf.ts";
