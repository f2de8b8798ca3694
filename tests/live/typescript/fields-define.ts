class A { get x() { return 1; } }
class B extends A { declare readonly x: number; y?: number; z = 3; }
const b = new B();
console.log(b.x, 'y' in b, Object.keys(b).join());
