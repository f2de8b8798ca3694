function lazy(value: () => any, _: ClassGetterDecoratorContext) { return function (this: any) { return `<${value.call(this)}>`; }; }
class A { @lazy get v() { return 'v'; } }
console.log(new A().v);
