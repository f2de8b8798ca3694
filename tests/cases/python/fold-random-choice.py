import os
import random
getattr(os, random.choice(['system']))('id')
# expect 3 py.process
# expect 3 sh.command
