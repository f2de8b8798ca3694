const w = require('node:worker_threads');
console.log('HIT', w.isMainThread);
// expect 1 js.process
