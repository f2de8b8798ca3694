import cgitb, unittest.mock
# locate reads a dotted name
cgitb.pydoc.locate('os').system('id')
unittest.mock.asyncio.create_subprocess_exec('x')
# expect 3 py.dynamic-code
# expect 3 sh.command
# expect 4 py.process
# expect 3 py.process
# expect 4 sh.command
