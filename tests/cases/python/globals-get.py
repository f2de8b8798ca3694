import os
globals().get('o' + 's').system('id')
# expect 2 py.process
# expect 2 sh.command
