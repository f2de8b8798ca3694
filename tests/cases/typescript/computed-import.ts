const name: string = process.argv[2]!;
await import(name);
// expect 2 js.dynamic-code
