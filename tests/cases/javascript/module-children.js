module.children;
require.cache;
process['ki' + 'll'](1, 0);
// expect 2 js.dynamic-code
// expect 3 js.process
