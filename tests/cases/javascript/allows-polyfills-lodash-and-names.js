const _ = require('lodash');
Array.prototype.last = function () { return this[this.length - 1]; };
Object.defineProperty(Array.prototype, 'first', { get() { return this[0]; } });
console.log([1, 2].last(), [1, 2].first);
const users = [{ name: 'a', age: 1 }, { name: 'b', age: 2 }];
console.log(_.get(users, '[0].name'), _.chain(users).map('age').sum().value(), _(users).filter({ age: 1 }).value());
console.log(_.invokeMap([[1], [2]], 'join', '-'), _.result(users[0], 'name'), _.flow([x => x + 1, x => x * 2])(3));
const key = process.argv[2] || 'name';
console.log(_.get(users[0], key), Reflect.get(users[0], key), users[0][key]);
class Bus { constructor() { for (const k of Object.getOwnPropertyNames(Bus.prototype)) if (k !== 'constructor') this[k] = this[k].bind(this); } on() { return this; } }
console.log(new Bus().on());
function sum(...xs) { return xs.reduce((a, b) => a + b, 0); }
console.log(sum(1, 2), sum.apply(null, [1, 2]), sum.call(null, 1), sum.bind(null, 1)(2), Math.max(...[1, 2]));
function pluck(rows, ...keys) { return rows.map(r => keys.map(k => r[k])); }
console.log(pluck(users, 'name', 'age'));
function greet() { return this.name + arguments[0]; }
console.log(greet.call({ name: 'x' }, '!'), greet.apply({ name: 'y' }, ['?']));
const names = Object.getOwnPropertyNames(users[0]);
for (let i = 0; i < names.length; i++) console.log(names[i], users[0][names[i]]);
const handler = { get(target, property, receiver) { return Reflect.get(target, property, receiver); } };
console.log(new Proxy(() => 1, handler).name, new Proxy({ a: 1 }, handler).a);
