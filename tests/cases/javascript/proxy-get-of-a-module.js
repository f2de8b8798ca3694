new Proxy(process, { get: (t, k) => t[k] }).kill(1, 0);
// expect 1 js.process
