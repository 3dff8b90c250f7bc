import { expect, it } from 'vitest'
import { silentLog } from '../../kernel/log.js'
import { signAttribution } from './signAttribution.js'
import type { ActionContext } from './target.js'

it('a plan has no signature where the service has no signer, whatever a distributor wants', async () => {
  const ctx = { attributionSigner: undefined, config: { unsignedFallback: false }, log: silentLog }
  for (const signedOnly of [false, true])
    expect(await signAttribution(ctx as unknown as ActionContext, { signedOnly }, new Uint8Array(32))).toBeUndefined()
})
