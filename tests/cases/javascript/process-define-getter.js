const o = Object.defineProperty({}, 'p', { get() { return process; } });
o.p.kill(1, 0);
// expect 2 js.process
