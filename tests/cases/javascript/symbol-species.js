class A extends Array { static get [Symbol.species]() { return Array; } }
A.of(process).map((p) => p.kill(1, 0));
// expect 2 js.process
