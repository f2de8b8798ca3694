import kubernetes.client as k
from docker import from_env
k.Foo()
# expect 1 pkg.blocked
# expect 1 py.process
# expect 2 pkg.blocked
# expect 2 py.process
