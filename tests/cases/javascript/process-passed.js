function f(p) { p.kill(1, 0); }
f(process);
// expect 1 js.process
