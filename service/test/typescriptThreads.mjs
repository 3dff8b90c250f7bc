import { register } from 'node:module'
import { isMainThread } from 'node:worker_threads'

// Tests run from source, and a thread the service starts inherits this file: there TypeScript is understood as well.
if (!isMainThread) register('./typescriptLoader.mjs', import.meta.url)
