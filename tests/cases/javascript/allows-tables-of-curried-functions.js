const table = { add: (a) => (b) => a + b };
const fn = table[process.argv[2]];
console.log(fn(1)(2), table[name](1)(2));
