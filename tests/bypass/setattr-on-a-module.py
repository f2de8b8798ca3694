import json
import os
setattr(json, 'dumps', os)
json.dumps.system('id')
# expect 4 py.process
# known-miss: attributes set on modules are not followed
