const assert = require('assert');
assert.strictEqual(1 + 1, 2);
assert.deepEqual({ a: [1] }, { a: [1] });
assert.throws(() => { throw new TypeError('x'); }, TypeError);
