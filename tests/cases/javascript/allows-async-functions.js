const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
async function* numbers(n) { for (let i = 0; i < n; i++) { await sleep(1); yield i; } }
(async () => {
  for await (const n of numbers(2)) console.log(n);
  try { await Promise.reject(new Error('x')); } catch ({ message }) { console.log(message); }
})();
