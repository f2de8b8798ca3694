class A { static get() { return process; } }
class B extends A {}
B.get().kill(1, 0);
// expect 3 js.process
