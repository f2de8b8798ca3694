function d(t: any, k: string) { const f: any = () => 0; const F = f[k]; F('return process')(); }
class Q { @d static constructor2() {} @d ['constructor']() {} }
// expect 1 js.dynamic-code
