function add(n: number) { return (_: undefined, context: ClassFieldDecoratorContext) => (initial: number) => { console.log(context.kind, String(context.name)); return initial + n; }; }
class A { @add(10) x = 1; @add(20) static y = 2; }
console.log(new A().x, A.y);
