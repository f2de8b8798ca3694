const { promisify } = require('util');
promisify((cb) => cb(null, process))().then((p) => p.kill(1, 0));
// expect 2 js.process
