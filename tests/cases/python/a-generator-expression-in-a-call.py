import os
(lambda g: next(g).system('id'))(m for m in [os])
# expect 2 py.process
# expect 2 sh.command
