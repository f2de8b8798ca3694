# Ordinary words from a pipe.
echo a b | xargs mkdir -p
printf '%s\n' a b | xargs -I{} cp -- {} out/{}
printf 'one\ntwo\n' | xargs -n1 echo
printf 'a b\nc\n' | xargs -d '\n' touch
ls | xargs wc -l
