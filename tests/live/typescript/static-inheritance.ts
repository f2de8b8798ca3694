class A { static make<T>(this: new () => T): T { return new this(); } name = 'a'; }
class B extends A { override name = 'b'; }
console.log(B.make().name, A.make().name);
