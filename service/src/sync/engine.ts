import type { ChainStore } from './chainStore.js'
import { createAlarmLog, createProgress } from './progress.js'
import type { Pace, WatchSettings } from './state.js'
import type { Reading } from './steps/step.js'

/** The parts that follow a chain. They do not change between turns; `Memory` holds the values that do. */
export type Engine = Reading & {
  chain: WatchSettings
  store: ChainStore
  pace: Pace
  /** Logs failures, and the progress of a chain that catches up. */
  say: ReturnType<typeof createAlarmLog>
  tellProgress: ReturnType<typeof createProgress>
}

type Required = 'chain' | 'store' | 'node' | 'clock' | 'log'
type Optional = 'tracing' | 'pace' | 'random' | 'windowMax' | 'calmMs'

/** Without a pause between calls. */
const unpaced: Pace = { finalMs: 0, againMs: 0, againBlocks: 0 }

export type EngineOptions = Pick<Engine, Required> & { [Name in Optional]?: Engine[Name] | undefined }

export function openEngine(options: EngineOptions): Engine {
  const { chain, store, node, clock, log, tracing } = options
  return {
    ...{ chain, store, node, clock, log, tracing },
    pace: options.pace ?? unpaced,
    random: options.random ?? Math.random,
    windowMax: options.windowMax ?? 10_000,
    calmMs: options.calmMs ?? 15_000,
    say: createAlarmLog(log, clock),
    tellProgress: createProgress(clock),
  }
}
