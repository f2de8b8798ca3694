const xs = [3, 1, 2];
console.log(xs.map((x) => x * 2).filter(Boolean).reduce((a, b) => a + b, 0), [...xs].sort((a, b) => a - b), xs.findIndex((x) => x === 1));
console.log(Array.from({ length: 3 }, (_, i) => i), xs.flatMap((x) => [x, x]), xs.some((x) => x > 2), xs.every(Number.isInteger), new Array(3).fill(0), xs.at(-1), xs.indexOf(1));
