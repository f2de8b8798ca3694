for (const [i, p] of [process].entries()) p.kill(1, 0);
// expect 1 js.process
