const _ = require('lodash'); _("<% process %>").template()();
// expect 1 js.dynamic-code
