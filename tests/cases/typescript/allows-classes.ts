abstract class Shape {
  static count = 0;
  #secret?: number = 1;
  constructor(protected readonly name: string, private size = 1, ...rest: unknown[]) { Shape.count++; }
  abstract area(): number;
  get label(): string { return `${this.name}:${this.size}`; }
}
class Square extends Shape implements Iterable<number> {
  constructor(private side: number) { super('square'); }
  area(): number { return this.side ** 2; }
  *[Symbol.iterator](): Iterator<number> { yield this.side; }
}
console.log(new Square(2).area(), [...new Square(3)]);
