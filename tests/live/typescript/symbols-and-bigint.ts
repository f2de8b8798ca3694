const id: unique symbol = Symbol('id');
class A { [id] = 1n; static readonly big: bigint = 2n ** 64n; }
console.log(new A()[id] + A.big, String(id));
