namespace A.B.C { export const x = 1; }
namespace A.B { export const y = C.x + 1; }
console.log(A.B.C.x, A.B.y);
