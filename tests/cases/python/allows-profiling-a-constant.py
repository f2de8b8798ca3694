import cProfile
def main():
    return sum(range(1000))
cProfile.run('main()')
import cProfile, pstats, io
pr = cProfile.Profile()
pr.enable()
x = sum(range(1000))
pr.disable()
s = io.StringIO()
ps = pstats.Stats(pr, stream=s).sort_stats('cumulative')
ps.print_stats()
print(s.getvalue())
import cProfile
with cProfile.Profile() as p:
    sum(range(3))
p.print_stats()
from cProfile import Profile
def work(): return 3
p = Profile()
p.runcall(work)
p.print_stats()
