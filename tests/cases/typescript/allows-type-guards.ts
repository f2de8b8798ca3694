function isText(x: unknown): x is string { return typeof x === 'string'; }
function assertNumber(x: unknown): asserts x is number { if (typeof x !== 'number') throw new TypeError('no'); }
const y: unknown = 1;
assertNumber(y);
console.log(isText(y), y + 1);
