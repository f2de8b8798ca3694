const fs = require('fs');
const path = require('path');
fs.writeFileSync(process.env.PWD + '/out.txt', 'x');
fs.writeFileSync(path.join(process.env.HOME, 'out.txt'), 'x');
console.log(process.env.HOME, `${process.env.PWD}/..`);
