const fs = require("fs"), os = require("os");
fs.rmSync("./build", { recursive: true });
fs.writeFileSync(os.homedir() + "/x.txt", "a");
process.chdir("data");
fs.unlinkSync("../x");
