class A { constructor(protected name: string) {} }
class B extends A { constructor(name: string, public extra = name.length) { super(name); } both() { return this.name + this.extra; } }
console.log(new B('abc').both());
