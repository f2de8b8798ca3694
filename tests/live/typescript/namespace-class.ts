class Album { label = new Album.Label('x'); }
namespace Album { export class Label { constructor(public name: string) {} } }
console.log(new Album().label.name);
