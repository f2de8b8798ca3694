const box = [require];
box[0]('child_' + 'process').execSync('id');
// expect 1 js.dynamic-code
// expect 2 js.process
