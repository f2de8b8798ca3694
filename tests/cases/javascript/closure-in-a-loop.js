for (let i = 0, p = process; i < 1; i++) p.kill(1, 0);
// expect 1 js.process
