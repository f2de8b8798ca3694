enum M { A = 1 }
enum M { B = 2 }
console.log(M.A + M.B, M[2]);
