class E { constructor() { this.h = {}; } on(n, f) { (this.h[n] ||= []).push(f); } emit(n, ...a) { this.h[n].forEach((f) => f(...a)); } }
const e = new E();
e.on('x', (p) => p.kill(1, 0));
e.emit('x', process);
// expect 3 js.process
