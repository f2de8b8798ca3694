class A { static run: any = eval; private cp?: any = require('child_process'); }
// expect 1 js.dynamic-code
// expect 1 js.process
