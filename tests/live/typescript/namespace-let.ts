namespace N { export let x = 1; export function add() { x += 1; } }
N.add(); N.add();
console.log(N.x);
