[1, process].toReversed()[0].kill(1, 0);
// expect 1 js.process
