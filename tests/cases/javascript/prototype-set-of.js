const o = {};
Object.setPrototypeOf(o, process);
o.kill(1, 0);
// expect 3 js.process
