import json
import os
getattr(os, json.loads('"system"'))('id')
# expect 3 py.internals
