from os import environ as e
e['PATH'] = f"{os.getcwd()}:{e['PATH']}"
import os
class E:
    def __init__(self): self.env = os.environ
E().env['PAGER'] = './x'
import os
def put(k, v): os.environ[k] = v
put('PAGER', './x')
# expect 2 any.steer
# expect 6 any.steer
# expect 8 any.steer
