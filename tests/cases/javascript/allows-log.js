const {promisify} = require('util'); console.log(`a ${x} b`)
