import { readdir, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { userFolders } from "@eliza-inference/fetch";
import { checkValue } from "../arguments/check.ts";
import { name } from "../arguments/rule.ts";
import { InferenceError } from "../errors.ts";
import { closestName } from "./closest-name.ts";
import { findKnownModel, knownModels } from "./known-models.ts";

export interface ResolvedModel {
  /** The absolute path of a GGUF file. */
  path: string;
  /** The known name, the bundle's folder or the path, as it was given. */
  given: string;
  kind: "name" | "bundle" | "file";
}

/**
 * Turns what a person wrote into a model file: the name of a known model that was pulled, the path of a GGUF
 * file, or a bundle (a folder with one model in `text/`). Opens nothing and fetches nothing.
 *
 * @throws InferenceError MODEL_NOT_FOUND, MODEL_INVALID (a bundle with several models, or a special file).
 */
export async function resolveModel(
  nameOrPath: string,
  options: { folder?: string | undefined } = {},
): Promise<ResolvedModel> {
  checkValue("the model", nameOrPath, name);
  const known = findKnownModel(nameOrPath);
  if (known) {
    const path = join(options.folder ?? userFolders().models, known.file);
    if ((await stat(path).catch(() => undefined))?.size === known.bytes) {
      return { path, given: nameOrPath, kind: "name" };
    }
    throw new InferenceError(
      "MODEL_NOT_FOUND",
      `${known.name} has not been pulled: ${path} is not there`,
      `Run: eliza-inference pull ${known.name}`,
    );
  }
  const path = resolve(nameOrPath);
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory()) return { path: await modelOfBundle(path), given: nameOrPath, kind: "bundle" };
  if (found?.isFile()) return { path, given: nameOrPath, kind: "file" };
  if (found) {
    throw new InferenceError("MODEL_INVALID", `${path} is neither a file nor a folder`, "Give a GGUF file.");
  }
  throw await notFound(nameOrPath, path);
}

/** The error for a name that is no known model, with the name that was probably meant. */
export function unknownModel(name: string): InferenceError {
  const names = knownModels.map((model) => model.name);
  const meant = closestName(name, names);
  return new InferenceError(
    "MODEL_NOT_FOUND",
    `"${name}" is not a known model`,
    meant ? `Did you mean ${meant}?` : `Known models: ${names.join(", ")}.`,
  );
}

async function notFound(given: string, path: string): Promise<InferenceError> {
  const isPath = /[/\\]|\.gguf$/i.test(given);
  if (!isPath) return unknownModel(given);
  const beside = await readdir(join(path, "..")).catch(() => undefined);
  if (!beside) {
    return new InferenceError("MODEL_NOT_FOUND", `${path}: there is no such folder`, "Check the path.");
  }
  const models = beside.filter((file) => /\.gguf$/i.test(file));
  const meant = closestName(path.split(/[/\\]/).at(-1) ?? "", models);
  return new InferenceError(
    "MODEL_NOT_FOUND",
    `${path} is not there`,
    meant ? `Did you mean ${join(path, "..", meant)}?` : "Check the path, or pull a known model.",
  );
}

async function modelOfBundle(folder: string): Promise<string> {
  const text = join(folder, "text");
  const files = (await readdir(text).catch((): string[] => []))
    .filter((file) => /\.gguf$/i.test(file) && !file.startsWith("."))
    .sort();
  // A split model is opened by its first piece.
  const firsts = files.filter((file) => !/-\d{5}-of-\d{5}\.gguf$/i.test(file) || /-00001-of-/.test(file));
  const [only] = firsts;
  if (only === undefined) {
    throw new InferenceError(
      "MODEL_NOT_FOUND",
      `${folder} is no bundle: ${text} holds no .gguf file`,
      "Give a GGUF file, or a folder that has one in text/.",
    );
  }
  if (firsts.length > 1) {
    throw new InferenceError(
      "MODEL_INVALID",
      `${text} holds ${firsts.length} models: ${firsts.join(", ")}`,
      `Name one of them, such as ${join(text, only)}.`,
    );
  }
  return join(text, only);
}
