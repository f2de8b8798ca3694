const w = new WeakMap();
const k = {};
w.set(k, process);
w.get(k).kill(1, 0);
// expect 4 js.process
