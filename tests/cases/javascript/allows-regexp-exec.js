const re = /(\d+)-(\d+)/g;
let m;
while ((m = re.exec('1-2 3-4')) !== null) console.log(m[1], m.index);
const { groups: { y } } = /(?<y>\d{4})/.exec('2020');
console.log(y, 'a1'.match(/\d/)[0], [...'a1b2'.matchAll(/\d/g)].length);
