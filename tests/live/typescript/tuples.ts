type Pair = [name: string, age?: number, ...rest: boolean[]];
const [name, age = 3, ...rest]: Pair = ['a', undefined, true, false];
console.log(name, age, rest.length);
