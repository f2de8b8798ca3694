class Shape {
  #name;
  static count = 0;
  static { Shape.count = 1; }
  constructor(name) { this.#name = name; Shape.count++; }
  get name() { return this.#name; }
  set name(v) { this.#name = v; }
  static of(...args) { return new this(...args); }
  toString() { return `${this.constructor.name}(${this.name})`; }
}
class Square extends Shape {
  constructor(side) { super('square'); this.side = side; }
  area() { return this.side ** 2; }
  toString() { return super.toString() + this.area(); }
}
console.log(String(Square.of(2)), new Square(1) instanceof Shape);
