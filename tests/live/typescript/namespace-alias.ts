namespace Deep.Inner { export class Thing { name = 'thing'; } }
import Thing = Deep.Inner.Thing;
console.log(new Thing().name);
