import fs = require('fs');
import * as path from 'path';
const file: string = path.join('out', 'a.json');
fs.mkdirSync(path.dirname(file), { recursive: true });
fs.writeFileSync(file, JSON.stringify({ a: 1 } as Record<string, number>));
