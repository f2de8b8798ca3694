const { Script } = require('node:vm');
new Script('console.log("HIT")').runInThisContext();
// expect 1 js.dynamic-code
