enum E { A = (eval('1') as number) }
// expect 1 js.dynamic-code
