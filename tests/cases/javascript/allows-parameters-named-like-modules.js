function run(process, require, module, eval2) { return process(require) + module; }
console.log(run((x) => x, 1, 2));
const child_process = { exec: (s) => s };
console.log(child_process.exec('id'));
