[1].with(0, process)[0].kill(1, 0);
// expect 1 js.process
