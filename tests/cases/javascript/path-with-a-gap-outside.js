const fs = require('fs'), path = require('path');
const name = process.argv[2];
fs.writeFileSync(path.join('/etc', name), 'x');
fs.writeFileSync(`/home/${name}/x`, 'x');
// expect 3 js.open-outside
// expect 4 js.open-outside
