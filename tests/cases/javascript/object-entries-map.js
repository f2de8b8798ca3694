Object.entries({ p: process }).map(([k, p]) => p.kill(1, 0));
// expect 1 js.process
