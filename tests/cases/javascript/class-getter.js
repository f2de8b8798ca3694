class A { get p() { return process; } }
new A().p.kill(1, 0);
// expect 2 js.process
