enum E { A, B = 5, C }
console.log(E.A, E.B, E.C, E[5], E[6], Object.keys(E).join());
