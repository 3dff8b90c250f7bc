import type { Config } from '../../kernel/config.js'
import { devAccount } from './anvil.js'
import { attributionIndex } from './deploy.js'
import { solverIndex } from './orders.js'
import { committerIndex, verifierIndex } from './streams.js'

/** Keys that are not set are those of the devnet's public accounts: of streams, of the solver and of attribution. */
export function withDevKeys(config: Config): Config {
  const own = (set: Config['streamsKey'], index: number) =>
    (set.key ?? set.keyFile ?? set.remote) ? set : { ...set, key: devAccount(index).privateKey }
  const { streamsKey, committerKey, solverKey } = config
  const attributes = config.attributionKey ?? config.attributionKeyFile ?? config.attributionSigner
  return {
    ...config,
    ...(attributes === undefined ? { attributionKey: devAccount(attributionIndex).privateKey } : {}),
    streamsKey: own(streamsKey, verifierIndex),
    committerKey: own(committerKey, committerIndex),
    solverKey: own(solverKey, solverIndex),
  }
}
