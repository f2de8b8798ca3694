class A { static p = process; }
A.p.kill(1, 0);
// expect 2 js.process
