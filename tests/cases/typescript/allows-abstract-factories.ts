type Ctor<T = {}> = new (...args: any[]) => T;
function Tagged<B extends Ctor>(Base: B) { return class extends Base { tag = 'x'; }; }
class Plain {}
const T = Tagged(Plain);
console.log(new T().tag);
