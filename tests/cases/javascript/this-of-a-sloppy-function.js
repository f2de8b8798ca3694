function f() { return this; }
f().process.kill(1, 0);
// expect 2 js.process
