const fs = require("fs"), path = require("path");
fs.rmSync("..", { recursive: true });
fs.rmSync(path.join("..", "x"));
fs.promises.rm("../../x");
process.chdir("..");
fs.unlinkSync("x");
// expect 2 js.open-outside
// expect 3 js.open-outside
// expect 4 js.open-outside
// expect 6 js.open-outside
