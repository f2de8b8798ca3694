cat > config.txt <<< "hello world"
read -r a b 2>/dev/null <<< "x y"; echo "$a"
grep -c x >n.txt <<<"$(cat config.txt)" || echo none
tr a-z A-Z >> o.txt 2>&1 <<<abc && cat o.txt
echo "a > b <<< c"
