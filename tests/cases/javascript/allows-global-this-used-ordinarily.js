globalThis.counter = (globalThis.counter || 0) + 1;
console.log(globalThis.counter, typeof globalThis.process, globalThis.Math.max(1, 2));
