eval("__imp" + "ort__('os').sys" + "tem('id')")
# expect 1 py.process
# expect 1 py.dynamic-code
# expect 1 sh.command
