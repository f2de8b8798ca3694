import os
type(os).__getattribute__(os, 'sys' + 'tem')('id')
# expect 2 py.process
# expect 2 sh.command
