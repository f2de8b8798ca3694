const o = { p: process, go() { this.p.kill(1, 0); } };
o.go();
// expect 1 js.process
