class Range implements Iterable<number> { constructor(private from: number, private to: number) {} *[Symbol.iterator]() { for (let i = this.from; i < this.to; i++) yield i; } }
console.log([...new Range(1, 4)].join(), Math.max(...new Range(0, 9)));
