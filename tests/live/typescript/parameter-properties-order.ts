class Base { constructor() { console.log('base'); } }
class D extends Base { first = this.log('field'); constructor(public x: number) { super(); console.log('body', this.x); } log(t: string) { console.log(t, this.x); return t; } }
new D(7);
