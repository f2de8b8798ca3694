const o = {};
Reflect.set(o, 'p', process);
o.p.kill(1, 0);
// expect 3 js.process
