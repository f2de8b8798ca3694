const _ = require('underscore'); _.chain(t).template().value()(); _(t).template();
// expect 1 js.dynamic-code
