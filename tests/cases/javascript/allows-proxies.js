const p = new Proxy({ a: 1 }, {
  get: (t, k, r) => (k in t ? Reflect.get(t, k, r) : 0),
  set(t, k, v) { t[k] = v; return Reflect.set(t, k, v); },
  has: (t, k) => Reflect.has(t, k),
});
p.b = 2;
console.log(p.a, p.b, p.c, 'a' in p);
