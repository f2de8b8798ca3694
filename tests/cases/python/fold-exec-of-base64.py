import base64
exec(base64.b64decode('aW1wb3J0IG9zO29zLnN5c3RlbSgnaWQnKQ=='))
# expect 2 py.process
# expect 2 py.dynamic-code
# expect 2 sh.command
