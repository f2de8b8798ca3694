function pad(x: number): string;
function pad(x: string, n: number): string;
function pad(x: any, n = 4): string { return String(x).padStart(n, '.'); }
console.log(pad(1), pad('ab', 6));
