echo / | xargs rm -rf
find / -name '*.log' | xargs rm -f
find /srv | head -5 | xargs rm
echo .. | xargs -I{} rm -rf {}
echo /srv | xargs -I X rm -rf X/y
xargs rm -rf <<< "/srv"
ls -d /srv/* | xargs rm -rf
find /srv -exec rm -rf {} \;
grep -rl foo /srv | xargs rm
# expect 1 sh.open-outside
# expect 2 sh.open-outside
# expect 3 sh.open-outside
# expect 4 sh.open-outside
# expect 5 sh.open-outside
# expect 6 sh.open-outside
# expect 7 sh.open-outside
# expect 8 sh.open-outside
# expect 9 sh.open-outside
