{rm,x}
# expect 1 sh.command
# expect 2 source.syntax
