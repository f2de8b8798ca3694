LIST="ls -la"
$LIST data
