['child_' + 'process'].map(require)[0].execSync('id');
// expect 1 js.dynamic-code
