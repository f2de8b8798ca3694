interface Point { x: number; y?: number }
type Named<T> = T & { name: string };
const p: Named<Point> = { x: 1, name: 'a' };
console.log(p.x, p.y ?? 0);
