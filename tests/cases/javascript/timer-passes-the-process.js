setTimeout((p) => p.kill(1, 0), 0, process);
// expect 1 js.process
