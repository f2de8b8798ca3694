function logged(target: any, context: ClassAccessorDecoratorContext) { return { get(this: any) { return target.get.call(this) * 2; }, init(v: number) { return v + 1; } }; }
class A { @logged accessor x = 4; }
console.log(new A().x);
