import base64
exec(base64.b64decode('aW1wb3J0IG9z'))
# expect 2 py.dynamic-code
