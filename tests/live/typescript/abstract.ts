abstract class Shape { abstract area(): number; describe() { return `area ${this.area()}`; } }
class Square extends Shape { constructor(private side: number) { super(); } area() { return this.side ** 2; } }
console.log(new Square(3).describe());
