const n = 'p';
class A { [n] = process; }
new A().p.kill(1, 0);
// expect 3 js.process
