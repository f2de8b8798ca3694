# under default: exec from a frame runs a text that was not judged
import traceback
t = "import sys\nopen('proof', 'w').write('exec through a frame: ' + str(len(sys.modules)))"
for f, n in traceback.walk_stack(None):
    b = [getattr(f, a) for a in dir(f) if a == 'f_builtins'][0]
    go = [v for k, v in b.items() if k == 'exec'][0]
    go(t, {})
    break
# expect 4 py.internals
# expect 5 py.internals
