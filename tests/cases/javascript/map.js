['child_process'].map(require)
// expect 1 js.dynamic-code
