const { createRequire } = require('module');
createRequire('/tmp/x')('child_' + 'process').execSync('id');
// expect 1 js.dynamic-code
// expect 2 sh.command
// expect 2 js.process
