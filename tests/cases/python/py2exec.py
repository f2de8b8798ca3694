exec "x"
# expect 1 source.syntax
