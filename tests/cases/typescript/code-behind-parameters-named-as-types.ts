type G = (string) => void;
const f = (string) => eval(string);
f("process.exit()");
const g: (any) => any = (any) => require(any);
g("child_process").execSync("id");
// expect 2 js.dynamic-code
// expect 4 js.process
// expect 4 js.dynamic-code
// expect 5 sh.command
