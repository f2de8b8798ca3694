import m = process.mainModule;
m.require('x');
// expect 1 js.process
// expect 2 js.process
