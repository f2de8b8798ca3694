function at(k: string) { return (t: any) => { const F = t[k]; F('return process')(); }; }
@at('constructor') class Q {}
// expect 1 js.dynamic-code
