import cp = require('child_process');
cp.exec('id');
// expect 1 js.process
// expect 2 sh.command
