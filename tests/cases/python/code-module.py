import code
code.InteractiveInterpreter().runsource('import subprocess')
# expect 1 py.dynamic-code
# expect 2 py.dynamic-code
