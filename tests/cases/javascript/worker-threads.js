const { Worker } = require('worker_threads');
new Worker('console.log("HIT")', { eval: true });
// expect 1 js.process
