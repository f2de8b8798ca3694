function sealed<T extends new (...a: any[]) => object>(value: T, context: ClassDecoratorContext) { return class extends value { kind = `sealed ${context.name}`; }; }
@sealed class A { x = 1; }
console.log(JSON.stringify(new A()));
