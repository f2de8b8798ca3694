import os
getattr(os, ('sys' * 1) + 'tem')('id')
# expect 2 py.process
# expect 2 sh.command
