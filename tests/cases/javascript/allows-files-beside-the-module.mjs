// Files in the folder of the module, and what else import.meta has.
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
fs.rmSync(`${import.meta.dirname}/dist`, { recursive: true, force: true });
fs.mkdirSync(path.join(import.meta.dirname, "out"), { recursive: true });
const { dirname } = import.meta;
fs.writeFileSync(path.join(dirname, "a.txt"), "x");
const meta = import.meta;
console.log(meta.url, fileURLToPath(import.meta.url), import.meta.resolve("./a.txt"), meta.env?.MODE);
class A { constructor() { if (new.target === A) this.x = 1; } }
if (import.meta.main) new A();
