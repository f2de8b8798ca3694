class F extends Function { constructor(c) { super(c); } }
new F('console.log("HIT")')();
// expect 1 js.dynamic-code
