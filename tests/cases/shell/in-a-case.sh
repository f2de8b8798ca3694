case x in
  x) nohup y;;
esac
# expect 2 sh.command
