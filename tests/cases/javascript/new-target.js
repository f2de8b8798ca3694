class A { constructor() { new.target.p = process; } }
new A();
A.p.kill(1, 0);
// expect 3 js.process
