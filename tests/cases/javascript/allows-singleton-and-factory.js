const factory = { square: (n) => ({ area: () => n * n }), circle: (r) => ({ area: () => r * r * Math.PI }) };
const make = (kind, ...args) => factory[kind](...args);
class Single { static #it; static get() { return (Single.#it ??= new Single()); } }
console.log(make('square', 2).area(), Single.get() === Single.get());
