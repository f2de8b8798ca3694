type Flags<T> = { [K in keyof T as `is${Capitalize<string & K>}`]: boolean };
const f: Flags<{ open: 1; done: 2 }> = { isOpen: true, isDone: false };
console.log(JSON.stringify(f));
