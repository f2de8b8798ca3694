function note(v: any, c: ClassMethodDecoratorContext) { console.log(String(c.name), c.private, c.static); return v; }
class A { @note #secret() { return 3; } open() { return this.#secret(); } }
console.log(new A().open());
