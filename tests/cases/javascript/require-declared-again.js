var require = require || null;
const cp = require('child_process');
// expect 2 js.process
