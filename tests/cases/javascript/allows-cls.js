class A { constructor(x){ this.x=x } get y(){ return this.x } }
console.log(new A(1).y, new A(1).constructor.name)
