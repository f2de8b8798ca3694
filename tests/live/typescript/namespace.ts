namespace Geometry { export const pi = 3; const hidden = 4; export function area(r: number) { return pi * r * r + hidden * 0; } }
console.log(Geometry.area(2), Object.keys(Geometry).join());
