# the channel thinks it is in a fork, and sends nothing
import sys, glob
c = sys.stdout._channel; pid = c.pid; c.pid = 1
try: open(glob.glob('/etc/shad?w')[0])
except OSError as e: t = str(e)
c.pid = pid
open('proof', 'w').write('refused, and reported by nothing: ' + t)
# expect 3 py.internals
