class Stack<T> { private items: T[] = []; push(...items: T[]): this { this.items.push(...items); return this; } pop(): T | undefined { return this.items.pop(); } }
console.log(new Stack<number>().push(1, 2, 3).pop());
const identity = <T,>(x: T): T => x;
console.log(identity<string>('s'));
