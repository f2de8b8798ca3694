const o = {};
o.__proto__ = process;
o.kill(1, 0);
// expect 3 js.process
