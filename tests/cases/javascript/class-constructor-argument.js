class A { constructor(p) { this.p = p; } }
new A(process).p.kill(1, 0);
// expect 2 js.process
