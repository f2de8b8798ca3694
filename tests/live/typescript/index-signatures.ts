interface Dict { [key: string]: number; total: number }
const d: Dict = { total: 0 };
for (const w of 'a b a'.split(' ')) { d[w] = (d[w] ?? 0) + 1; d.total++; }
console.log(JSON.stringify(d));
