class A { get() { return process; } }
class B extends A { go() { super.get().kill(1, 0); } }
new B().go();
// expect 2 js.process
