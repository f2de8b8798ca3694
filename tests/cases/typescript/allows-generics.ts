function first<T extends { id: number }>(xs: T[]): T | undefined { return xs[0]; }
const get = <K extends string, V>(m: Map<K, V>, k: K): V | undefined => m.get(k);
console.log(first<{ id: number }>([{ id: 1 }]), get(new Map<string, number>([['a', 1]]), 'a'));
