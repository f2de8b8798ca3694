eval.call(null, 'console.log("HIT")');
// expect 1 js.dynamic-code
