const { run } = require('node:test'); run({ files: ['./x.js'] });
// expect 1 js.process
