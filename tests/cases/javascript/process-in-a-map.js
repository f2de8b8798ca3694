const m = new Map([['p', process]]);
m.get('p').kill(1, 0);
// expect 2 js.process
