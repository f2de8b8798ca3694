const f = (a) => (b) => (c) => a[b](c, 0);
f(process)('kill')(1);
// expect 1 js.dynamic-code
