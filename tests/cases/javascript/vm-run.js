const vm = require('vm');
vm.runInThisContext('console.log("HIT")');
// expect 1 js.dynamic-code
