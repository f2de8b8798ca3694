const part = (f, ...a) => (...b) => f(...a, ...b);
part((p, s) => p.kill(s, 0), process)(1);
// expect 2 js.process
