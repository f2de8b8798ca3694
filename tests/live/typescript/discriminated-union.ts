type Shape = { kind: 'circle'; r: number } | { kind: 'square'; side: number };
const area = (s: Shape): number => { switch (s.kind) { case 'circle': return Math.round(Math.PI * s.r ** 2); case 'square': return s.side ** 2; default: { const never: never = s; return never; } } };
console.log(area({ kind: 'circle', r: 2 }), area({ kind: 'square', side: 3 }));
