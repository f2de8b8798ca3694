const _ = require('lodash'); const F = _.property('a.constructor')({a: () => 0}); F('return process')();
// expect 1 js.dynamic-code
