const p = pro\u0063ess;
p.kill(1, 0);
// expect 2 js.process
