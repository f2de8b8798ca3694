const fs = require('fs');
const path = require('path');
fs.rmSync(process.env.PWD + '/..', { recursive: true });
fs.rmSync(`${process.env['HOME']}/..`, { recursive: true });
fs.rmSync(path.join(process.env.PWD, '..'), { recursive: true });
const { HOME } = process.env;
fs.rmSync(path.dirname(HOME), { recursive: true });
fs.rmSync((process.env.HOME || '/root') + '/..', { recursive: true });
// expect 3 js.open-outside
// expect 4 js.open-outside
// expect 5 js.open-outside
// expect 7 js.open-outside
// expect 8 js.open-outside
