declare const missing: string;
declare function nothing(): void;
declare module 'nowhere' { export const x: number; }
declare global { interface Array<T> { last(): T } }
Array.prototype.last = function () { return this[this.length - 1]; };
console.log(typeof missing, [1, 2, 3].last());
export {};
