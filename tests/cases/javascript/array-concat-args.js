[1].concat(process, 2)[1].kill(1, 0);
// expect 1 js.process
