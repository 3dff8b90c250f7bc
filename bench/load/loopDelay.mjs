// Loaded into a server by `--import`: tells who started it how late its event loop was since it was last asked, in
// milliseconds. What a load generator sees beside that is its own lateness, or the machine's.
import { monitorEventLoopDelay } from 'node:perf_hooks'

const delay = monitorEventLoopDelay({ resolution: 1 })
delay.enable()
process.on('message', (message) => {
  if (message !== 'loop delay') return
  // A timer of a millisecond is due a millisecond after it is set.
  const [p99, max] = [delay.percentile(99), delay.max].map((ns) => Math.max(0, ns / 1e6 - 1))
  process.send({ p99, max })
  delay.reset()
})
// Being asked is no reason to go on living.
process.channel?.unref()
