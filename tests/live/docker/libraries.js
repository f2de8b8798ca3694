// SPDX-License-Identifier: MIT
// Uses each library of Node's images through require(). Prints "ok NAME" or "FAILED NAME: why".
'use strict';
const assert = require('assert');
const fs = require('fs');
const _ = require('lodash');
const dayjs = require('dayjs');
const math = require('mathjs');
const { parse } = require('csv-parse/sync');
const { stringify } = require('csv-stringify/sync');
const Papa = require('papaparse');
const yaml = require('js-yaml');
const { z } = require('zod');
const statistics = require('simple-statistics');

function use(name, work) {
  try {
    work();
    console.log('ok', name);
  } catch (error) {
    console.log('FAILED', name, error.message);
  }
}

use('lodash', () => {
  assert.deepStrictEqual(_.groupBy([1, 2, 3], (n) => (n % 2 ? 'odd' : 'even')), { odd: [1, 3], even: [2] });
  assert.strictEqual(_.get({ a: [{ b: 1 }] }, 'a[0].b'), 1);
});
use('dayjs', () => {
  const utc = require('dayjs/plugin/utc');
  dayjs.extend(utc);
  assert.strictEqual(dayjs.utc('2026-01-31').add(1, 'month').format('YYYY-MM-DD'), '2026-02-28');
});
use('mathjs', () => {
  assert.strictEqual(math.evaluate('det([1, 2; 3, 4])'), -2);
  assert.strictEqual(math.derivative('x^2', 'x').toString(), '2 * x');
  assert.strictEqual(math.evaluate('2 inch to cm').toNumber('cm').toFixed(2), '5.08');
});
use('csv-parse', () => {
  fs.writeFileSync('table.csv', 'name,n\n"a, b",1\n');
  assert.deepStrictEqual(parse(fs.readFileSync('table.csv', 'utf8'), { columns: true }), [{ name: 'a, b', n: '1' }]);
});
use('csv-stringify', () => assert.strictEqual(stringify([['a, b', 1]]), '"a, b",1\n'));
use('papaparse', () => {
  assert.deepStrictEqual(Papa.parse('x,y\n1,2', { header: true, dynamicTyping: true }).data, [{ x: 1, y: 2 }]);
  assert.strictEqual(Papa.unparse([{ x: 1 }]), 'x\r\n1');
});
use('js-yaml', () => assert.deepStrictEqual(yaml.load(yaml.dump({ a: [1, 'b'] })), { a: [1, 'b'] }));
use('zod', () => {
  const User = z.object({ name: z.string(), age: z.number().int() });
  assert.strictEqual(User.safeParse({ name: 'a', age: 1 }).success, true);
  assert.strictEqual(User.safeParse({ name: 'a', age: 'x' }).success, false);
});
use('simple-statistics', () => assert.strictEqual(statistics.linearRegression([[0, 0], [1, 2]]).m, 2));
