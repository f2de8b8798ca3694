function bound(_: any, context: ClassMethodDecoratorContext) { context.addInitializer(function (this: any) { this[context.name] = this[context.name].bind(this); }); }
class A { n = 5; @bound get() { return this.n; } }
const { get } = new A();
console.log(get());
