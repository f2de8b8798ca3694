interface Part {
  ast?: import("@babel/types").Statement[]
  in?: string
}
const a = true ? 1 : import("child_process");
const b = import("child_process").then(x => x);
// expect 5 js.process
// expect 6 js.process
