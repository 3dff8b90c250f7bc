import type { Config } from '../../kernel/config.js'
import { devAccount } from './anvil.js'
import { attributionIndex } from './deploy.js'
import { solverIndex } from './orders.js'
import { committerIndex, verifierIndex } from './streams.js'

/** Public as the accounts are: it seals nothing that is secret. */
const devSecretsKey = 'the public key of every devnet for webhooks'

/** Keys that are not set are those of the devnet's public accounts: of streams, of the solver and of attribution. Webhooks may be on this machine. */
export function withDevKeys(config: Config): Config {
  const own = (set: Config['streamsKey'], index: number) =>
    (set.key ?? set.keyFile ?? set.remote) ? set : { ...set, key: devAccount(index).privateKey }
  const { streamsKey, committerKey, solverKey } = config
  const attributes = config.attributionKey ?? config.attributionKeyFile ?? config.attributionSigner
  return {
    ...config,
    secretsKey: config.secretsKey ?? devSecretsKey,
    webhooksAllowed: config.webhooksAllowed.length > 0 ? config.webhooksAllowed : ['127.0.0.1', 'localhost'],
    ...(attributes === undefined ? { attributionKey: devAccount(attributionIndex).privateKey } : {}),
    streamsKey: own(streamsKey, verifierIndex),
    committerKey: own(committerKey, committerIndex),
    solverKey: own(solverKey, solverIndex),
  }
}
