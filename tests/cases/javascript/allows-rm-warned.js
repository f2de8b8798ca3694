const { rm } = require('fs/promises');
rm('x');
console.log(process.env.HOME);
