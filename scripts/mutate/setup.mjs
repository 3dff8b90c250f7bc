// No change is at work while the modules of a run are loaded, but one that is told to be: the thread has run others.
import { inject } from 'vitest'

const stryker = globalThis[inject('globalNamespace')]
if (stryker && inject('mutantActivation') !== 'static') stryker.activeMutant = undefined
