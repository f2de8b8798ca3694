const { promisify } = require('util');
promisify((a, cb) => cb(null, a))(process).then((p) => p.kill(1, 0));
// expect 2 js.process
