class A { constructor() { this.x = []; } add(s) { this.x.push(s); return this; } get() { return this.x.join(''); } } process[new A().add('ki').add('ll').get()](1, 0);
// expect 1 js.dynamic-code
