const o = { set p(v) { v.kill(1, 0); } };
o.p = process;
// expect 1 js.process
