const fp = require('lodash/fp'); fp.flow(fp.get('constructor'), F => F('return process'))(() => 0);
// expect 1 js.dynamic-code
