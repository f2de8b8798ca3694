((([] as any)['constructor']!)['constructor' as const] as any)('return process')();
// expect 1 js.dynamic-code
