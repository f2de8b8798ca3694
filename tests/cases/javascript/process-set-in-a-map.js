const m = new Map();
m.set('p', process);
m.get('p').kill(1, 0);
// expect 3 js.process
