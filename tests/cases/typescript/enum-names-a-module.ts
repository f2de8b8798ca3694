enum E { M = 'child_process' }
require(E.M);
// expect 2 js.dynamic-code
// expect 2 js.process
