import { a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t } from "./tags.mjs";
import { execSync } from "node:child_process";
const all = [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t];
let run = a.x;
for (const one of all) run = one[0];
for (const one of all) run = one[1];
for (const one of all) run = one[2];
run = pick(execSync, run);
function pick(x, y) { return Math.random() > 2 ? y : x; }
run("id");
// expect 2 js.process
// expect 10 sh.command
