const u = { a: { f: () => 1, xs: [1] } };
console.log(u?.a?.f?.(), u.b?.c.d, u.a.xs?.[0], u.none?.() ?? 'none');
let n = null;
n ??= 1; n ||= 2; n &&= 3;
console.log(n);
