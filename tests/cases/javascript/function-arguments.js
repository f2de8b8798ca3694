function f() { arguments[0].kill(1, 0); }
f(process);
// expect 1 js.process
