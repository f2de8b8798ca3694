namespace N { export const cp = require('child_process'); }
N.cp.exec('id');
// expect 1 js.process
// expect 2 sh.command
