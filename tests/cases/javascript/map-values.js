[...new Map([['a', process]]).values()][0].kill(1, 0);
// expect 1 js.process
