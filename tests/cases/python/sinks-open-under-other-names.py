import bz2
import tarfile
import tokenize
import fileinput
import readline
bz2._builtin_open('/etc/x', 'w')
tarfile.bltn_open('/etc/x', 'w')
tokenize._builtin_open('/etc/x', 'w')
fileinput.hook_compressed('/etc/x', 'w')
readline.write_history_file('/etc/x')
# expect 6 py.open-outside
# expect 7 py.open-outside
# expect 8 py.open-outside
# expect 9 py.open-outside
# expect 10 py.open-outside
