import json
import os
json.m = os
json.m.system('id')
# expect 4 py.process
# expect 4 sh.command
