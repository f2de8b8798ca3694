cat <(ls a) <(ls b) | sort
echo "$(date) $(cat a | head -n 1)"
