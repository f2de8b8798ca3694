const _ = require('lodash'); _.invoke(_, 'template', t)();
// expect 1 js.dynamic-code
