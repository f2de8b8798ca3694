require(Buffer.from('Y2hpbGRfcHJvY2Vzcw==', 'base64').toString()).execSync('id');
// expect 1 sh.command
// expect 1 js.process
