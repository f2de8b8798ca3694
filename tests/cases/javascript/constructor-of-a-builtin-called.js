[].map.constructor.call(null, 'return process')();
// expect 1 js.dynamic-code
