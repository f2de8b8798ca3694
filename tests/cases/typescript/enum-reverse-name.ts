enum K { constructor = 1 }
const f: any = () => 0; const F = f[K[1]]; F('return process')();
// expect 2 js.dynamic-code
