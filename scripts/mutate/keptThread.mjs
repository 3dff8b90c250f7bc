// A run of tests per change would load the libraries anew each time, which takes longer than the tests. So one thread is
// kept for all of them. Each run evaluates all modules of this repository again, so no change leaves anything in them.
import { ThreadsPoolWorker } from 'vitest/node'

/** The number of runs that share a thread: so the memory that libraries keep for each does not grow without end. */
const runsPerThread = 200
let kept

class KeptThread extends ThreadsPoolWorker {
  name = 'kept'
  #listeners = []
  #config
  #project

  constructor(options) {
    super(options)
    this.#project = options.project
  }

  async start() {
    if (kept) this._thread = kept.thread
    else await super.start()
    kept ??= { thread: this._thread, runs: 0, isStarted: false }
  }

  on(event, listener) {
    this.#listeners.push({ event, listener })
    super.on(event, listener)
  }

  send(message) {
    if (message.type === 'start') {
      this.#config = message.context.config
      if (kept.isStarted) return this.#reply('started')
      kept.isStarted = true
    }
    if (message.type === 'stop') return this.#reply('stopped')
    if (message.type !== 'run') return super.send(message)
    kept.runs += 1
    super.send({ ...message, context: { ...message.context, config: this.#config, invalidates: this.#listModules() } })
  }

  /** The thread has done both before: it is not asked again. */
  #reply(type) {
    setImmediate(() => {
      for (const { event, listener } of this.#listeners)
        if (event === 'message') listener({ type, __vitest_worker_response__: true })
    })
  }

  #listModules() {
    const graphs = Object.values(this.#project.vite.environments).map(({ moduleGraph }) => moduleGraph)
    const files = graphs.flatMap(({ fileToModulesMap }) => [...fileToModulesMap.keys()])
    return files.filter((file) => !file.includes('/node_modules/'))
  }

  async stop() {
    if (kept.runs < runsPerThread) {
      for (const { event, listener } of this.#listeners) this._thread.off(event, listener)
      this._thread.stdout.unpipe(this.stdout)
      this._thread.stderr.unpipe(this.stderr)
      this._thread = undefined
      return
    }
    kept = undefined
    await super.stop()
  }
}

/** The plugin that makes a run use it. */
export const keepThread = {
  name: 'keep-thread',
  configureVitest({ project }) {
    project.config.pool = 'kept'
    project.config.poolRunner = { name: 'kept', createPoolWorker: (options) => new KeptThread(options) }
  },
}

/** Ends the thread: the process could not end while it waits. */
export const endThread = () => kept?.thread.terminate()
