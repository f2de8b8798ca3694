namespace N { export var k: any; export const g = (f: any) => f[k]; }
Object.assign(N, { k: 'constructor' });
N.g(() => 0)('return process')();
// expect 3 js.dynamic-code
