import { parentPort } from 'node:worker_threads'
import { judge, type Subject } from './judgement.js'

/** The thread that reads transactions of strangers. It reports when it is ready, then judges one subject after the other. */
const port = parentPort
if (!port) throw new Error('this file is the entry of a worker thread')

port.on('message', (subject: Subject) => {
  try {
    port.postMessage({ judgement: judge(subject) })
  } catch (error) {
    port.postMessage({ failure: String(error) })
  }
})
port.postMessage({ ready: true })
