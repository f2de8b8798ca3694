const map = new Map<string, { n: number }>([['a', { n: 1 }]]);
map.get('a')!.n++;
let later!: number;
later = map.get('a')!.n;
console.log(later);
