import assert from "node:assert/strict";
import { test } from "node:test";
import { userFolders } from "../src/index.ts";

test("each platform's own folders are used", () => {
  assert.deepEqual(userFolders({}, "linux", "/home/ada"), {
    cache: "/home/ada/.cache/eliza-inference",
    models: "/home/ada/.cache/eliza-inference/models",
    data: "/home/ada/.local/share/eliza-inference",
  });
  assert.equal(userFolders({ XDG_CACHE_HOME: "/c" }, "linux", "/h").cache, "/c/eliza-inference");
  assert.equal(userFolders({ XDG_CACHE_HOME: "c" }, "linux", "/h").cache, "/h/.cache/eliza-inference");
  assert.equal(
    userFolders({}, "darwin", "/Users/ada").models,
    "/Users/ada/Library/Caches/eliza-inference/models",
  );
  assert.deepEqual(userFolders({ LOCALAPPDATA: "C:\\L" }, "win32", "C:\\Users\\ada"), {
    cache: "C:\\L\\eliza-inference\\Cache",
    models: "C:\\L\\eliza-inference\\Cache\\models",
    data: "C:\\L\\eliza-inference\\Data",
  });
});

test("ELIZA_INFERENCE_CACHE replaces the cache and moves the models, and empty counts as unset", () => {
  const folders = userFolders({ ELIZA_INFERENCE_CACHE: "/big", XDG_CACHE_HOME: "/c" }, "linux", "/h");
  assert.equal(folders.cache, "/big");
  assert.equal(folders.models, "/big/models");
  assert.equal(folders.data, "/h/.local/share/eliza-inference");
  assert.equal(userFolders({ ELIZA_INFERENCE_CACHE: "" }, "linux", "/h").cache, "/h/.cache/eliza-inference");
});
