import json
json.dumps({'a':1}); json.loads('{}')
