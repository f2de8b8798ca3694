class A { clone(){ return new this.constructor(this.x) } }
