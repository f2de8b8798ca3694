import os
sorted([os], key=lambda m: getattr(m, 'sys' + 'tem')('id'))
# expect 2 py.process
# expect 2 sh.command
