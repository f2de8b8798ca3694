ev\u{61}l('console.log("HIT")');
// expect 1 js.dynamic-code
