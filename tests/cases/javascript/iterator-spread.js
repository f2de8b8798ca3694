const it = { *[Symbol.iterator]() { yield process; } };
[...it][0].kill(1, 0);
// expect 2 js.process
