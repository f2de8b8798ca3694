class Stack { #items = []; push(x) { this.#items.push(x); return this; } pop() { return this.#items.pop(); } }
new Stack().push(process).pop().kill(1, 0);
// expect 2 js.process
