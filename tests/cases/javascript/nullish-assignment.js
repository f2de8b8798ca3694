let p = null;
p ??= process;
p.kill(1, 0);
// expect 3 js.process
