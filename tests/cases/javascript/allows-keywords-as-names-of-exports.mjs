import { in as within, default as start, x as y } from "./a.mjs";
const _null = 1, _catch = 2, _function = 3;
export { _null as null, _catch as catch };
export { _function as function };
class Request {
  #abort

  [Symbol.iterator] = null
}
console.log(within, start, y, new Request());
