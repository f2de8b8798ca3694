class A { get p() { return process; } }
class B extends A { get p() { return super.p; } }
new B().p.kill(1, 0);
// expect 3 js.process
