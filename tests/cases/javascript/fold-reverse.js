process['llik'.split('').reverse().join('')](1, 0);
// expect 1 js.process
