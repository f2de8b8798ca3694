async function* count(n: number): AsyncGenerator<number> { for (let i = 0; i < n; i++) yield i; }
let sum = 0;
for await (const x of count(4)) sum += x;
console.log(sum);
