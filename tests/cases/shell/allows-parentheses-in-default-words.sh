name=box
note="${name:+(called ${name})}"
echo "$note" "${other:-(none ${name})}" "${name:+text (${name})}" ${name:+(x ${name})}
