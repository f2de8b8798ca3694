export interface Source<out T> { next(): T }
const a = x ? import("child_process").a < b : c;
const b = import("child_process").then<number>(m => m.execSync(id));
const c = import("child_process").exec < limit;
eval
  <string>("1")
const d = { ...import("child_process").x };
eval("f(a, in_x, require('child_process').execSync(id))");
const e = f<string>(eval)`x`;
import { execSync as in_ } from "child_process";
const g = limit<eval(text)>`x`;
const h = limit<new Function>`x`;
// expect 2 js.process
// expect 3 js.process
// expect 3 js.dynamic-code
// expect 4 js.process
// expect 5 js.dynamic-code
// expect 7 js.process
// expect 8 js.dynamic-code
// expect 8 js.process
// expect 9 js.dynamic-code
// expect 10 js.process
// expect 11 js.dynamic-code
// expect 12 js.dynamic-code
