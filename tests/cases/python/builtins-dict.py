__builtins__.__dict__['__imp' + 'ort__']('os').system('id')
# expect 1 py.internals
