# The variable of a loop over constants has each of them.
for dir in /srv old; do rm -rf "$dir"; done
for name in numpy paramiko; do pip install "$name"; done
for command in ls perl; do "$command" x; done
for dir in out ..; do cd "$dir"; rm -f x; cd -; done
for text in a 'b/e'; do sed "s/x/$text/" f; done
for name in ls cat; do read -r name < f; "$name" x; done
for word in ls; do :; done; "$word"
select word in ls cat; do "$word"; done
for word in ls "$1"; do "$word"; done
# expect 2 sh.open-outside
# expect 3 pkg.blocked
# expect 4 sh.command
# expect 5 sh.open-outside
# expect 6 sh.command
# expect 7 sh.command
# expect 8 sh.command
# expect 9 sh.command
# expect 10 sh.command
