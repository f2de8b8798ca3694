function load(name: string, r: NodeRequire = require): any { return r(name); }
load('child_process');
// expect 1 js.process
// expect 1 js.dynamic-code
