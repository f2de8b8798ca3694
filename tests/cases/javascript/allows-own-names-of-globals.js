const process = require('process');
let Error = class {};
var Promise = require('bluebird');
function require2(x) { return x; }
console.log(process.argv, new Error(), new Promise(f));
