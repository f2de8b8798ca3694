const a = [process, 1];
a.copyWithin(1, 0);
a[1].kill(1, 0);
// expect 3 js.process
