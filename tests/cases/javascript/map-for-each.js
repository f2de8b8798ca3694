new Map([['a', process]]).forEach((p) => p.kill(1, 0));
// expect 1 js.process
