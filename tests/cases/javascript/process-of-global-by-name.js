const k = 'process';
global[k].kill(1, 0);
// expect 2 js.process
