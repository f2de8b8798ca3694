process[Math.random() < 2 ? 'kill' : 'pid'](1, 0);
// expect 1 js.process
// expect 1 js.dynamic-code
