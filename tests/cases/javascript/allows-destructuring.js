const { a = 1, b: { c: [d, ...e] } = { c: [1, 2] }, ...rest } = { x: 3 };
const [f, , g = 4] = [1, 2];
const h = ({ i, j = 2 } = {}) => i ?? j;
let k = 1, l = 2;
[k, l] = [l, k];
console.log(a, d, e, rest, f, g, h(), k, l);
