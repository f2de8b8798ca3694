case x in
  x) touch y;;
esac
# expect 2 sh.command
