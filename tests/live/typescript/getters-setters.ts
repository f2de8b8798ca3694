class T { private c = 0; get f(): number { return this.c * 9 / 5 + 32; } set f(v: number | string) { this.c = (Number(v) - 32) * 5 / 9; } }
const t = new T();
t.f = '212';
console.log(t.f);
