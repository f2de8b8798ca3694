function f() { p = process; }
f();
p.kill(1, 0);
// expect 3 js.process
