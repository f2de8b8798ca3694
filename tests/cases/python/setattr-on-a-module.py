import json
import os
setattr(json, 'dumps', os)
json.dumps.system('id')
# expect 4 py.process
# expect 4 sh.command
