const a = [];
console.log(a.constructor === Array, a.constructor.name, ({}).constructor === Object, new a.constructor(3).length);
class A { clone() { return new this.constructor(); } }
console.log(new A().clone() instanceof A);
