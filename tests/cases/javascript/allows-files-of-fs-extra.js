const fse = require('fs-extra');
const _ = require('lodash');
const path = require('path');
fse.mkdirpSync('out');
fse.outputJSONSync(path.join('out', 'a.json'), { a: 1 });
fse.readJSONSync('out/a.json');
fse.copySync('out', 'out2');
console.log(_.map([1], (x) => x + 1));
if (!module.parent) console.log('main');
