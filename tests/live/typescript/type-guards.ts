interface Cat { meow(): string } interface Dog { bark(): string }
function isCat(x: Cat | Dog): x is Cat { return 'meow' in x; }
function assertText(x: unknown): asserts x is string { if (typeof x !== 'string') throw new TypeError('no text'); }
const pet: Cat | Dog = { bark: () => 'woof' };
console.log(isCat(pet) ? pet.meow() : pet.bark());
try { assertText(1); } catch (e) { console.log((e as Error).message); }
