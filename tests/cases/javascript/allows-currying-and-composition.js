const compose = (...fs) => (x) => fs.reduceRight((v, f) => f(v), x);
const curry = (f) => function g(...a) { return a.length >= f.length ? f(...a) : (...b) => g(...a, ...b); };
console.log(compose((x) => x + 1, (x) => x * 2)(3), curry((a, b) => a + b)(1)(2));
