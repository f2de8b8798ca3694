require(Buffer.from('6368696c645f70726f63657373', 'hex').toString()).execSync('id');
// expect 1 sh.command
// expect 1 js.process
