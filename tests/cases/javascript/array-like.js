Array.prototype.map.call({ length: 1, 0: process }, (p) => p.kill(1, 0));
// expect 1 js.process
