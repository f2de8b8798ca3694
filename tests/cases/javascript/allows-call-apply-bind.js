function greet(a, b) { return `${this.name} ${a} ${b}`; }
const o = { name: 'x' };
console.log(greet.call(o, 1, 2), greet.apply(o, [1, 2]), greet.bind(o, 1)(2), Math.max.apply(null, [1, 2]), Array.prototype.slice.call([1, 2], 1));
