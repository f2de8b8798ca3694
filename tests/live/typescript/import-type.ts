import type { Stats } from 'fs';
import { type Dirent, existsSync } from 'fs';
let s: Stats | undefined, d: Dirent | undefined;
console.log(existsSync('/nope'), s, d);
