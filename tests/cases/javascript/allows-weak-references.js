const w = new WeakMap();
const k = {};
w.set(k, { n: 1 });
console.log(w.get(k).n, new WeakRef(k).deref() === k, new WeakSet([k]).has(k));
