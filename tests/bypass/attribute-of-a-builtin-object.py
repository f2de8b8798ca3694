import os
exit.m = os
exit.m.system('id')
# expect 3 py.process
# known-miss: attributes of names that nothing binds are not read back
