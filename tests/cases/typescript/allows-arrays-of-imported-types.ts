interface Part {
  ast?: import("@babel/types").Statement[]
  setup: import('./a').B.C[] | null
  in2?: number | undefined
  in?: string | undefined
  instanceof?: number
}
const part: Part = { setup: null, in: "x" };
function f(x: import("a").B[]): void { console.log(x, part); }
f([]);
