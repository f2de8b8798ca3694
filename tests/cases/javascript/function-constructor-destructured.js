const { constructor: { constructor: F } } = [];
F('console.log("HIT")')();
// expect 1 js.dynamic-code
// expect 2 js.dynamic-code
