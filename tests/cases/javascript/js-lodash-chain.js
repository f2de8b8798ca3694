const _ = require('lodash');
const c = _.chain("<% process.getBuiltinModule('fs').writeFileSync('proof', 'template') %>");
c.template().value()();
// expect 3 js.dynamic-code
