Reflect.apply(require, module, ['child_' + 'process']).execSync('id');
// expect 1 js.dynamic-code
// expect 1 js.process
// expect 1 sh.command
