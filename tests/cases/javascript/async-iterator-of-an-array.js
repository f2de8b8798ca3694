(async () => { for await (const p of [process]) p.kill(1, 0); })();
// expect 1 js.process
