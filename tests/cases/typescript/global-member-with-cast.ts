(globalThis as any)['ev' + ('al' as string)]('1');
// expect 1 js.dynamic-code
