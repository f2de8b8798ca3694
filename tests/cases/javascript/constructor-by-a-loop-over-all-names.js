for (const k of Object.getOwnPropertyNames(Function.prototype)) { if (k.length === 11) { const f = () => 0; const F = f[k]; F('return process')(); } }
// expect 1 js.dynamic-code
