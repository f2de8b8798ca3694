const _ = require('lodash'); const F = _.result({ a: () => 0 }, ['a', 'constructor']); F('return process')();
// expect 1 js.dynamic-code
