const e = eval;
e('console.log("HIT")');
// expect 1 js.dynamic-code
// expect 2 js.dynamic-code
