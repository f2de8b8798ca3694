type Flags<T> = { readonly [K in keyof T as `is${Capitalize<string & K>}`]?: T[K] extends infer U ? boolean : never };
type Deep<T> = T extends (infer U)[] ? Deep<U> : T;
const f: Flags<{ ok: number }> = { isOk: true };
let d: Deep<number[][]> = 1;
console.log(f.isOk, d);
