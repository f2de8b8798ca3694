enum Colour { Red, Green = 'g', Blue = 1 << 2 }
const enum Size { S, M }
console.log(Colour.Red, Colour['Green'], Size.M);
