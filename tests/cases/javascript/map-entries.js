for (const [, p] of new Map([['a', process]]).entries()) p.kill(1, 0);
// expect 1 js.process
