export type * from "./types.js";
export type * as shapes from "./shapes.js";
export interface Source<out T> { next(): T }
export interface Sink<in T = never> { put(x: T): void }
export interface Pipe<
  in out K extends string,
  out V = unknown,
> { key: K; value: V }
export declare const add: import("./fp.js").FPFn2<Date, import("./fp.js").Duration | "x", { a: 1 }[]>;
export declare const map: {
  <A, B>(f: (a: A) => B): (self: Array<A>) => Array<B>
  /** a comment */
  <A, B>(self: Array<A>, f: (a: A) => B): Array<B>
};
declare module "lab" {
  global {
    interface Window { lab: string }
  }
}
class Request {
  #abort

  [Symbol.iterator] = null
}
const _null = 1, _void = 2;
export { _null as null, _void as void };
type Key<T> = T extends Source<infer U> ? U : never;
const rows = sql<{ id: number }>`SELECT id FROM t WHERE n = ${_null}`;
for (let i = 0; i < unique.length; i++) { console.log(i, ", in x, out y,"); }
