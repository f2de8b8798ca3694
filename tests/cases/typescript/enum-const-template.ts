const enum K { A = `${'constr'}uctor` }
const f: any = () => 0; const F = f[K['A']]; F('return process')();
// expect 2 js.dynamic-code
