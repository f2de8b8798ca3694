import os
import re
getattr(os, re.sub('[0-9]', '', 's1y2s3t4e5m'))('id')
# expect 3 py.internals
