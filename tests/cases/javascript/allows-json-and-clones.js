const o = { a: [1, { b: 2 }], toJSON() { return { a: 1 }; } };
console.log(JSON.stringify(o, null, 2), JSON.parse('{"a":1}', (k, v) => v), structuredClone({ a: 1 }));
