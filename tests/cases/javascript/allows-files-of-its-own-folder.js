const path = require('path'), fs = require('fs'), os = require('os');
require(path.join(__dirname, 'lib', 'x'));
require(path.resolve(__dirname, './config.json'));
fs.rmSync(path.join(process.cwd(), 'build'), { recursive: true });
fs.writeFileSync(path.join(os.homedir(), 'a'), 'x');
fs.mkdirSync(path.dirname(path.resolve('a/b')));
