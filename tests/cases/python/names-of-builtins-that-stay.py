for exec in []: pass
exec('import os')
try:
    pass
except ValueError as eval:
    pass
eval('1' + input())
with open('f') as f: compile
# expect 2 py.dynamic-code
# expect 7 py.dynamic-code
# expect 8 py.dynamic-code
