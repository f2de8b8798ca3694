class P { constructor(public a: number, private b: string, protected readonly c = true, readonly d?: number) {} text() { return `${this.a}${this.b}${this.c}${this.d}`; } }
console.log(new P(1, 'x').text(), JSON.stringify(new P(2, 'y', false, 4)));
