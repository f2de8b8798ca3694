const fs = require('fs'), path = require('path');
fs.writeFileSync('a.css', '/* main */ body {}');
fs.writeFileSync(path.join('lib', 'a.js'), `// made by ${process.argv[1]}\nlet a = 1;\n`);
fs.appendFileSync('log.txt', '/health 200\n');
require('fs/promises').writeFile('routes.txt', ['/users/1', '/users/2'].join('\n'), 'utf8');
fs.writeSync(1, '/etc\n');
const text = ['/* prettier-ignore */', `export const a = ${JSON.stringify([1])}`].join('\n');
fs.writeFileSync(__dirname + '/script.output.ts', text);
