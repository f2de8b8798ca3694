import concurrent.futures as cf, os
f = cf.Future(); f.set_result(getattr)
f.result()(os, 'system')('id')
# expect 3 py.process
# expect 3 sh.command
