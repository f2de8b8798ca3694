const o: { a?: { b?: () => number } } = { a: { b: () => 4 } };
console.log(o.a?.b?.(), o?.a?.['b']?.() ?? 0, (o as any).x?.y.z.w);
let n: number | null = null;
n ??= 7;
console.log(n);
