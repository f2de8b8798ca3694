const all = { ...{ p: process } };
all.p.kill(1, 0);
// expect 2 js.process
