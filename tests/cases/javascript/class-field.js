class A { p = process; }
new A().p.kill(1, 0);
// expect 2 js.process
