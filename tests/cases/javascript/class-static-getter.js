class A { static get p() { return process; } }
A.p.kill(1, 0);
// expect 2 js.process
