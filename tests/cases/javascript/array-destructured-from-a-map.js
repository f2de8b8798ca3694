const [[, p]] = new Map([['a', process]]);
p.kill(1, 0);
// expect 2 js.process
