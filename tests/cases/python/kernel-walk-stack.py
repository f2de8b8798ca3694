import traceback
n = [f.f_code.co_name for f, _ in traceback.walk_stack(None)]
open('proof', 'w').write('frames: ' + ' '.join(n))
# expect 2 py.internals
