outer: for (const p of [process]) { p.kill(1, 0); break outer; }
// expect 1 js.process
