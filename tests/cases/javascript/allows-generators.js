function* fib() { let [a, b] = [0, 1]; for (;;) { yield a; [a, b] = [b, a + b]; } }
const take = (n, it) => { const out = []; for (const x of it) { if (out.length >= n) break; out.push(x); } return out; };
console.log(take(5, fib()), [...(function* () { yield* [1, 2]; })()]);
