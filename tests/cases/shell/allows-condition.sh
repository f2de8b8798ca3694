if [[ -f data.csv && $1 != x ]]; then
  cat data.csv
elif grep -q a b; then
  pwd
else
  echo none
fi
case "$1" in
  a|b) ls;;
  *) true;;
esac
