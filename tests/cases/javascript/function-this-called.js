function f() { this.kill(1, 0); }
f.call(process);
// expect 1 js.process
