import fs, { readFileSync } from 'node:fs';
import * as path from 'path';
import { fileURLToPath } from 'url';
export const here = path.dirname(fileURLToPath(import.meta.url));
export default function main() { return typeof readFileSync === typeof fs.readFileSync; }
console.log(main(), here.length > 0, await Promise.resolve(1));
