function greet(this: { name: string }, mark: string) { return this.name + mark; }
console.log(greet.call({ name: 'n' }, '!'));
