const Serial = (Base) => class extends Base { serialize() { return JSON.stringify(this); } };
class Point { constructor(x) { this.x = x; } }
class P extends Serial(Point) {}
console.log(new P(1).serialize(), P.name);
