const x = <number><unknown>'5';
const y = (x as any as string).length;
const z = ((v: unknown) => v as string)('t')!;
console.log(x, y, z);
