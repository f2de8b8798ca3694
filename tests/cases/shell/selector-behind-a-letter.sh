ls a️b
ls a‍b
echo ⚠️️
# expect 1 source.bidi
# expect 2 source.bidi
# expect 3 source.bidi
