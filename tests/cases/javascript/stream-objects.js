const { Readable } = require('stream');
Readable.from([process]).on('data', (p) => p.kill(1, 0));
// expect 2 js.process
