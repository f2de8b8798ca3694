import os
{m for m in [os]}.pop().system('id')
# expect 2 py.process
# expect 2 sh.command
