name=data.csv
export MODE=fast
count=$(wc -l "$name")
echo "${name%.csv}: $count ${MODE:-slow}"
local_list=(a b c)
echo "${local_list[@]}"
