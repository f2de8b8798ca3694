namespace Types { export interface A { x: number } export type B = string; }
const a: Types.A = { x: 1 };
console.log(a.x, typeof a);
