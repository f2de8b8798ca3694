function* g() { return process; }
g().next().value.kill(1, 0);
// expect 2 js.process
