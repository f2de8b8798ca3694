const [a, ...rest] = [1, process];
rest[0].kill(1, 0);
// expect 2 js.process
