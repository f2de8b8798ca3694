const a = [process];
for (const i in a) a[i].kill(1, 0);
// expect 2 js.process
