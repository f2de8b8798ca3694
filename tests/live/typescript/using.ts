class Resource implements Disposable { constructor(private n: string) { console.log('open', n); } [Symbol.dispose]() { console.log('close', this.n); } }
{ using a = new Resource('a'); using b = new Resource('b'); console.log('inside', a instanceof Resource, b !== a); }
console.log('after');
