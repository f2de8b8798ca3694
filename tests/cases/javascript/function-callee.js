(function () { arguments.callee.p = process; })();
(function f() { f.p = process; f.p.kill(1, 0); })();
// expect 2 js.process
