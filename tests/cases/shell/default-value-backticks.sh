echo ${x:-`touch y`}
# expect 1 sh.command
