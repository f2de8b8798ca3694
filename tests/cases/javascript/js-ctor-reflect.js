const ks = Reflect.ownKeys(Function.prototype).filter(k => typeof k === 'string' && k.startsWith('cons'));
const F = Reflect.get(function () {}, ks[0]);
Reflect.apply(F, null, ["process.getBuiltinModule('fs').writeFileSync('proof', 'Function')"])();
// expect 1 js.dynamic-code
// expect 2 js.dynamic-code
