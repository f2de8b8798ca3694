import { // all of it
  exec, /* this too */ spawn as s // end
} from 'child_process'
s('id')
// expect 3 js.process
// expect 4 sh.command
