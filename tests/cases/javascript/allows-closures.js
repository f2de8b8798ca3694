const counter = () => { let n = 0; return { inc: () => ++n, get value() { return n; } }; };
const c = counter();
c.inc();
console.log(c.value, ((a) => (b) => a + b)(1)(2), (function () { return arguments.length; })(1, 2));
