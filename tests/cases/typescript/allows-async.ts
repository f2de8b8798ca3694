const sleep = (ms: number): Promise<void> => new Promise<void>((resolve) => setTimeout(resolve, ms));
async function* count(n: number): AsyncGenerator<number, void, unknown> { for (let i = 0; i < n; i++) { await sleep(1); yield i; } }
for await (const i of count(3)) console.log(i);
