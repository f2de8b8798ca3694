require('./x.node');
const m = require('./build/Release/addon.node'); m.run();
import('./x.node');
// expect 1 js.process
// expect 2 js.process
// expect 3 js.process
