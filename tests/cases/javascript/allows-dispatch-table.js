const ops = { '+': (a, b) => a + b, '-': (a, b) => a - b };
for (const [op, f] of Object.entries(ops)) console.log(op, f(3, 2));
console.log(ops['+'](1, 2), Object.values(ops).map((f) => f(1, 1)));
