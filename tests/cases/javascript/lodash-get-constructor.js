const _ = require('lodash'); const F = _.get(() => 0, 'constructor'); F('return process')();
// expect 1 js.dynamic-code
