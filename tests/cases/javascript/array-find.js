[1, process].find((p) => p.kill).kill(1, 0);
// expect 1 js.process
