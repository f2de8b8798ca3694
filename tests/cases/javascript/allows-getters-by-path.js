const get = (o, path, d) => path.split('.').reduce((x, k) => x?.[k], o) ?? d;
const set = (o, [k, ...r], v) => (r.length ? set((o[k] ??= {}), r, v) : (o[k] = v));
const o = {};
set(o, ['a', 'b'], 1);
console.log(get(o, 'a.b'), get(o, 'x.y', 'none'));
