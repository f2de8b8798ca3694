function f({ a, b: { c = 2, ...others } = {} as any, ...rest }: Record<string, any>, [x, , y]: number[] = [1, 2, 3]) { return [a, c, Object.keys(others).length, Object.keys(rest).join(), x, y]; }
console.log(JSON.stringify(f({ a: 1, b: { d: 4 }, z: 5 })));
