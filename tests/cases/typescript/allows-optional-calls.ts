type Hooks = { done?: (n: number) => void; exec?(s: string): void };
const h: Hooks = { exec(s) { console.log(s); } };
h.done?.(1);
h.exec!('x');
