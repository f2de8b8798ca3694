declare global { interface Window { custom: number } }
declare module 'x' { export function exec(s: string): void }
declare function gtag(...args: unknown[]): void;
export {};
