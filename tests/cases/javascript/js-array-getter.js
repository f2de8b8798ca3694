Object.defineProperty(Array.prototype, 'zz', { get() { return this[0][this[1]]; } });
const F = [() => 0, 'constructor'].zz;
F("process.getBuiltinModule('fs').writeFileSync('proof','x')")();
// expect 2 js.dynamic-code
// expect 3 js.dynamic-code
