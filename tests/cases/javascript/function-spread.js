const f = (a, b) => b.kill(1, 0);
f(...[1, process]);
// expect 1 js.process
