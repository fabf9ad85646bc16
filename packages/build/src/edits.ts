import { existsSync } from "node:fs";
import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { BuildError } from "./errors.ts";

/** One change to an outside source file: the anchor must occur exactly once and is replaced. */
export interface Edit {
  /** name of the edit's file, for messages */
  id: string;
  file: string;
  reason: string;
  anchor: string;
  replacement: string;
}

const HINT = "compare the anchor with the pinned source; an upgrade of the source needs its edits reviewed";

/**
 * Reads an edit from its text form: `file:` and `reason:` lines, then `--- anchor`, `--- replacement` and `--- end`,
 * each on a line of its own. The line breaks before and after a section's text are not part of it.
 * Throws EDIT_MALFORMED.
 */
export function parseEdit(id: string, text: string): Edit {
  const match =
    /^file: (?<file>\S+)\nreason: (?<reason>[^\n]+)\n--- anchor\n(?<anchor>[\s\S]+?)\n--- replacement\n(?<replacement>[\s\S]*?)\n--- end\n*$/.exec(
      text.replaceAll("\r\n", "\n"),
    );
  if (!match?.groups) {
    throw new BuildError(
      "EDIT_MALFORMED",
      `edit ${id} is not in the form file/reason/anchor/replacement`,
      HINT,
    );
  }
  const { file, reason, anchor, replacement } = match.groups;
  return { id, file: file!, reason: reason!, anchor: anchor!, replacement: replacement! };
}

/** All edits of a folder, in the order of their file names. */
export async function readEdits(folder: string): Promise<Edit[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".edit")).sort();
  return Promise.all(names.map(async (name) => parseEdit(name, await readFile(join(folder, name), "utf8"))));
}

/**
 * Applies the edits to the tree below `root`. Every anchor is checked before any file is written, so a failure
 * leaves the tree as it was. Throws EDIT_NOT_UNIQUE, which names file, edit, count and reason.
 */
export async function applyEdits(root: string, edits: Edit[]): Promise<void> {
  for (const [file, text] of await editedTexts(root, edits)) await writeFile(join(root, file), text);
}

/**
 * Makes `tree` a copy of `source` with the edits applied, and no others. Files whose text stays the same keep their
 * time, so a build of the tree goes on from where it was. Throws as applyEdits does, and then changes nothing.
 */
export async function updateEditedTree(source: string, tree: string, edits: Edit[]): Promise<void> {
  const texts = await editedTexts(source, edits);
  const list = join(tree, ".edited-files.json");
  let before: string[] = [];
  if (existsSync(list)) {
    before = JSON.parse(await readFile(list, "utf8")) as string[];
  } else {
    await rm(tree, { recursive: true, force: true });
    await mkdir(dirname(tree), { recursive: true });
    await cp(source, tree, { recursive: true, preserveTimestamps: true });
  }
  const touched = [...new Set([...before, ...texts.keys()])];
  await writeFile(list, JSON.stringify(touched));
  for (const file of touched) {
    const wanted = texts.get(file) ?? (await readFile(join(source, file), "utf8"));
    if ((await readFile(join(tree, file), "utf8")) !== wanted) await writeFile(join(tree, file), wanted);
  }
  await writeFile(list, JSON.stringify([...texts.keys()]));
}

/** The text of every edited file, by its path below `root`. */
async function editedTexts(root: string, edits: Edit[]): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  for (const edit of edits) {
    let text = texts.get(edit.file);
    if (text === undefined) {
      try {
        text = await readFile(join(root, edit.file), "utf8");
      } catch (cause) {
        throw new BuildError("EDIT_NOT_UNIQUE", `edit ${edit.id}: ${edit.file} cannot be read`, HINT, {
          cause,
        });
      }
    }
    const parts = text.split(edit.anchor);
    if (parts.length !== 2) {
      throw new BuildError(
        "EDIT_NOT_UNIQUE",
        `edit ${edit.id} (${edit.reason}): its anchor occurs ${parts.length - 1} times in ${edit.file}, not once; ` +
          `it begins ${JSON.stringify(edit.anchor.split("\n")[0])}`,
        HINT,
      );
    }
    texts.set(edit.file, parts.join(edit.replacement));
  }
  return texts;
}
