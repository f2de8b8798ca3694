\u0065val('console.log("HIT")');
// expect 1 js.dynamic-code
