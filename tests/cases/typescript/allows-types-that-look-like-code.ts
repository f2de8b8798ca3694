type P = typeof import('child_process');
type E = typeof eval;
type R = ReturnType<typeof require>;
declare const process: { env: Record<string, string> };
let x: P | E | R | undefined;
console.log(x, process.env.HOME);
