[process, 1].reverse()[1].kill(1, 0);
// expect 1 js.process
