import { readFileSync } from 'node:fs'
import { expectedCalls } from '../../../sdk/src/verify/expected.js'
import { watchedTopics } from '../../src/derive/events.js'
import { decodeEvents } from '../../src/features/attribution/decodeEvents.js'
import { vaultKinds } from '../../src/vaults/kinds.js'
import { fixtures } from './fixtures.js'
import type { Lists } from './walk.js'

/** Every list a vault kind stands in, as they are. */
export const lists: Lists = {
  kinds: vaultKinds,
  expected: expectedCalls,
  fixtures,
  topics: watchedTopics,
  decode: (log) =>
    decodeEvents([{ ...log, logIndex: 0, blockNumber: 1, transactionIndex: 0, transactionHash: '0x' }]).map(
      ({ name }) => name,
    ),
  docs: readFileSync(new URL('../../../docs/vault-kinds.md', import.meta.url), 'utf8'),
}
