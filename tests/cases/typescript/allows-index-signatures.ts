interface Table { [key: string]: number | undefined }
const t: Table = {};
for (const w of 'a b a'.split(' ')) t[w] = (t[w] ?? 0) + 1;
const keys = Object.keys(t) as (keyof typeof t)[];
console.log(keys.map((k) => t[k]!));
