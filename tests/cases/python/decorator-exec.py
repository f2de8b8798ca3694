@exec
@(lambda f:'import subprocess as s; s.run(["touch","FILE"])')
def x(): pass
# expect 1 py.dynamic-code
