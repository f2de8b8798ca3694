import trace
trace.Trace().run('import os')
# expect 1 py.dynamic-code
