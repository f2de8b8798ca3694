const p = require('path');
const c = require(p.resolve(__dirname, './data.json'));
const d = require(`${__dirname}/x.json`);
const e = require(__dirname + '/y.json');
const path = require('path');
const helper = require(path.join(__dirname, 'lib', 'helper.js'));
