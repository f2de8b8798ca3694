function* fib(): Generator<number, void, unknown> { let [a, b] = [0, 1]; for (;;) { yield a; [a, b] = [b, a + b]; } }
const out: number[] = [];
for (const x of fib()) { if (x > 20) break; out.push(x); }
console.log(out.join());
