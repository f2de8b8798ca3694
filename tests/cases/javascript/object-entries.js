for (const [k, p] of Object.entries({ p: process })) p.kill(1, 0);
// expect 1 js.process
