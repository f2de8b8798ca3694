Object.values({ a: [process] }).flat().pop().kill(1, 0);
// expect 1 js.process
