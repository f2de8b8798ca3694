const os = require(process.argv[2] ? 'path' : 'os');
console.log(os)
