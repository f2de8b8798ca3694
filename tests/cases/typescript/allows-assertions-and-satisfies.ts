const o = { a: 1, b: 'x' } as const;
const s = { a: 1 } satisfies Record<string, number>;
let v: unknown = 'text';
const n = (v as string).length + (<string>v).length;
console.log(o.a, s!.a, n);
