namespace Shapes {
  export const scale = 2;
  export function area(r: number) { return Math.PI * r * r * scale; }
  export namespace Inner { export class Box { constructor(public readonly width = 3, private log = console.log) {} show() { this.log(this.width); } } }
}
const logged = (target: any, key: string, d: PropertyDescriptor) => { const f = d.value; d.value = function (...a: any[]) { return f.apply(this, a); }; };
class Service { @logged run(x: number) { return Shapes.area(x); } }
console.log(new Service().run(2), new Shapes.Inner.Box().width);
