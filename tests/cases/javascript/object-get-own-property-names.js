Object.getOwnPropertyNames(process).filter((n) => n === 'kill').forEach((n) => process[n](1, 0));
// expect 1 js.dynamic-code
