const k = Reflect.ownKeys(Object.getPrototypeOf(() => 0)).find(k => String(k).startsWith('cons'));
const F = Reflect.get(() => 0, k); F('return process')();
// expect 1 js.dynamic-code
// expect 2 js.dynamic-code
