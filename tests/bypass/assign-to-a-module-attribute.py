import json
import os
json.m = os
json.m.system('id')
# expect 4 py.process
# known-miss: attributes set on modules are not followed
