function outer(p) { return () => p; }
outer(process)().kill(1, 0);
// expect 2 js.process
