class Range {
  constructor(a, b) { Object.assign(this, { a, b }); }
  *[Symbol.iterator]() { for (let i = this.a; i < this.b; i++) yield i; }
  get [Symbol.toStringTag]() { return 'Range'; }
}
console.log([...new Range(0, 3)], `${new Range(0, 1)}`, Symbol('x').description);
