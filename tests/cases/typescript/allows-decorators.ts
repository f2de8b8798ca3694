function logged<T extends (...args: any[]) => any>(target: T, context: ClassMethodDecoratorContext): T { console.log(String(context.name)); return target; }
class A { @logged run(): void {} }
new A().run();
