function Parent(name) { this.name = name; }
function Child(name) { Parent.prototype.constructor.call(this, name); }
Child.prototype = Object.create(Parent.prototype);
Child.prototype.constructor = Child;
class A {
  clone() { return new this.constructor(this.x); }
  again(...a) { return Reflect.construct(this.constructor, a); }
  kind() { return this.constructor.name; }
}
const hasRequire = typeof require === 'function' && typeof module !== 'undefined';
let cache; cache ??= new Map(); cache ||= {};
const f = (x) => { throw x; };
if (require.main === module) console.log(new A().clone());
