const obj = { a: 1, b: { c: 2 } };
for (const key of Object.keys(obj)) console.log(obj[key]);
const key = 'b';
obj[key].c = 3;
obj[`x${1}`] = 4;
delete obj.a;
console.log('a' in obj, Object.entries(obj).map(([k, v]) => k), { ...obj, [key]: 1 });
