class A { ['do' + 'It'](p) { p.kill(1, 0); } }
new A()['doIt'](process);
// expect 1 js.process
