enum K { A = 'constr', B = A + 'uctor' }
const f = () => 0; const F = f[K.B]; F('return process')();
// expect 2 js.dynamic-code
