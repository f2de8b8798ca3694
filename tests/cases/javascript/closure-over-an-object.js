const make = () => { const s = {}; return { set(v) { s.v = v; }, get: () => s.v }; };
const b = make();
b.set(process);
b.get().kill(1, 0);
// expect 4 js.process
