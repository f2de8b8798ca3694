type Event = { kind: 'add'; n: number } | { kind: 'stop' };
const reduce = (s: number, e: Event): number => {
  switch (e.kind) { case 'add': return s + e.n; case 'stop': return s; default: { const never: never = e; return never; } }
};
console.log(reduce(1, { kind: 'add', n: 2 }));
