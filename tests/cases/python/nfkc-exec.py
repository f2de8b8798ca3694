𝐞xec('1')
# expect 1 py.dynamic-code
