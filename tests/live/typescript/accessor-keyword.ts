class A { accessor value = 1; static accessor shared = 's'; }
const a = new A();
a.value = 9;
console.log(a.value, Object.keys(a).length, A.shared);
