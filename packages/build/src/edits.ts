import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
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
  const texts = new Map<string, string>();
  for (const edit of edits) {
    const path = join(root, edit.file);
    let text = texts.get(path);
    if (text === undefined) {
      try {
        text = await readFile(path, "utf8");
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
    texts.set(path, parts.join(edit.replacement));
  }
  for (const [path, text] of texts) await writeFile(path, text);
}
