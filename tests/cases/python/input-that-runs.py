import sys
exec(sys.stdin.read())
eval(input())
exec(compile(sys.stdin.buffer.read(), "input", "exec"))
exec(open(0).read())
# expect 2 py.dynamic-code
# expect 3 py.dynamic-code
# expect 4 py.dynamic-code
# expect 5 py.dynamic-code
