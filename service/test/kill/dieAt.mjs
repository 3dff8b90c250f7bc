// A process that ends by SIGKILL at a step that is drawn before: node sends it to itself, and the kernel lets no further
// line of it run. A step is a message that leaves for a database or a node, before and after it is handed to the kernel, or
// one that comes from there; so a death may fall between any two.

import { Socket } from 'node:net'

/** Counts steps from now on and ends at one of them; answers how many there were so far. */
export function dieAt(step) {
  let steps = 0
  const pass = (socket) => {
    // What is said to the parent is no step.
    if (socket === process.stdout || socket === process.stdin) return
    steps += 1
    if (steps === step) process.kill(process.pid, 'SIGKILL')
  }
  const { write, push } = Socket.prototype
  Socket.prototype.write = function (...given) {
    pass(this)
    const isTaken = write.apply(this, given)
    pass(this)
    return isTaken
  }
  Socket.prototype.push = function (...given) {
    pass(this)
    return push.apply(this, given)
  }
  return () => steps
}
