import os
{os}.pop().system('id')
# expect 2 py.process
# expect 2 sh.command
