class A {}
A.prototype.p = process;
new A().p.kill(1, 0);
// expect 3 js.process
