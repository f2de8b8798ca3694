class A { set p(v) { v.kill(1, 0); } }
new A().p = process;
// expect 1 js.process
