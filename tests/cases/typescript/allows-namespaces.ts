namespace Geometry {
  export interface Vector { x: number }
  export namespace Util { export const twice = (v: Vector): Vector => ({ x: v.x * 2 }); }
}
import U = Geometry.Util;
console.log(U.twice({ x: 1 }));
