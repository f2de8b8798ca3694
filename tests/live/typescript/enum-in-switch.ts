enum Op { Add, Sub }
function run(op: Op, a: number, b: number) { switch (op) { case Op.Add: return a + b; case Op.Sub: return a - b; } }
console.log(run(Op.Add, 2, 3), run(Op.Sub, 2, 3));
