[process].reduce((a, p) => p.kill(1, 0), null);
// expect 1 js.process
