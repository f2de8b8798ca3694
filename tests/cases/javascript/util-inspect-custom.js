const util = require('util');
util.inspect({ [util.inspect.custom]: () => [process][0].kill(1, 0) });
// expect 2 js.process
