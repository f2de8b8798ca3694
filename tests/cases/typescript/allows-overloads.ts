function parse(x: string): number;
function parse(x: number): string;
function parse(x: any): any { return typeof x === 'string' ? Number(x) : String(x); }
console.log(parse('1'), parse(1));
