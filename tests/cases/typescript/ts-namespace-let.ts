namespace N { export let k: any = 'x'; export function g(f: any) { return f[k]; } }
N.k = 'constructor';
N.g(() => 0)("process.getBuiltinModule('fs').writeFileSync('proof','x')")();
// expect 3 js.dynamic-code
