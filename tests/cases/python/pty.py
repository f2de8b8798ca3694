import pty
pty.spawn('sh')
# expect 1 py.process
# expect 2 sh.command
