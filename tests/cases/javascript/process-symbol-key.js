const s = Symbol();
const o = { [s]: process };
o[s].kill(1, 0);
// expect 3 js.process
