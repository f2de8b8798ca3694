// import.meta.dirname is the workspace.
import fs from "node:fs";
import path from "node:path";
fs.rmSync(`${import.meta.dirname}/../srv`, { recursive: true });
fs.rmSync(path.join(import.meta.dirname, "..", "srv"), { recursive: true });
// expect 4 js.open-outside
// expect 5 js.open-outside
