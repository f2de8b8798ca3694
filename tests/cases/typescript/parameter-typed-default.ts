function f(cp: any = require('child_process'), run?: any) { return cp.exec('id'); }
f();
// expect 1 js.process
// expect 1 sh.command
