function A() { return process; }
new A().kill(1, 0);
// expect 2 js.process
