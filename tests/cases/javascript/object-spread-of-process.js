const o = { ...process };
o.kill(1, 0);
// expect 2 js.process
