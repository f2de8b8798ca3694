import pty
pty.spawn('sh')
# expect 1 py.process
