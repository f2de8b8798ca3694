import path, { join as j } from 'path';
import * as os from 'node:os';
console.log(path.sep, j('a', 'b'), typeof os.EOL);
