const { exec } = require('mz/child_process');
// expect 1 js.process
