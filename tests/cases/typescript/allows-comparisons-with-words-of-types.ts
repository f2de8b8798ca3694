for (let i = 0; i < unique.length; i++) { console.log(i); }
const a = i < unique.length;
if (i < b.c && d > e) {}
let symbol = 1; if (symbol < unique) {}
const unique = [1]; while (i < unique.length) i++;
function f(n: number) { return n < unique.length ? 1 : 2; }
