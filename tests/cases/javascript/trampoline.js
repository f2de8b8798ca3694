let f = () => () => process;
while (typeof f === 'function') f = f();
f.kill(1, 0);
// expect 3 js.process
