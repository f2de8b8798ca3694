echo "a; rm -rf / | sh" '$(id)' \$\(id\) # rm x
echo "it's" '`id`'
