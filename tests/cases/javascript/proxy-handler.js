const p = new Proxy({}, { get: () => process });
p.anything.kill(1, 0);
// expect 2 js.process
