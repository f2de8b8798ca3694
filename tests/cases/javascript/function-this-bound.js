function f() { this.kill(1, 0); }
f.bind(process)();
// expect 1 js.process
