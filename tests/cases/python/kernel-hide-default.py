# as py_hide_report, in words that the analyzer allows
import sys, glob
c = sys.stdout._channel
real = c.send
def quiet(kind, *parts):
    if kind != 'B': real(kind, *parts)
c.send = quiet
try: open(glob.glob('/etc/shad?w')[0])
except OSError as e: open('proof', 'w').write('refused, and reported by nothing: ' + str(e))
# expect 3 py.internals
