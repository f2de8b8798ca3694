import builtins
getattr(builtins,'ev'+'al')('1')
# expect 1 py.dynamic-code
# expect 2 py.dynamic-code
