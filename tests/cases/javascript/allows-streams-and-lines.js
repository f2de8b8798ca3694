const { Readable, Transform } = require('stream');
const readline = require('readline');
const up = new Transform({ transform(chunk, enc, cb) { cb(null, String(chunk).toUpperCase()); } });
Readable.from(['a\n', 'b\n']).pipe(up);
const rl = readline.createInterface({ input: up });
rl.on('line', (l) => console.log(l)).on('close', () => console.log('end'));
