const { x, ...rest } = { x: 1, p: process };
rest.p.kill(1, 0);
// expect 2 js.process
