const { readFile, writeFile } = require('fs/promises');
(async () => { await writeFile('/tmp/wt-ok.json', JSON.stringify({ a: 1 })); console.log(JSON.parse(await readFile('/tmp/wt-ok.json', 'utf8')).a); })();
