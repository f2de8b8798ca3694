const { chain } = require('lodash'); chain(t).thru(x => x).template().value()();
// expect 1 js.dynamic-code
