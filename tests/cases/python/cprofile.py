import cProfile
cProfile.run('eval(input())')
cProfile.run(input())
cProfile.Profile().run(input())
f = cProfile.run
# expect 2 py.dynamic-code
# expect 3 py.dynamic-code
# expect 4 py.dynamic-code
# expect 5 py.dynamic-code
