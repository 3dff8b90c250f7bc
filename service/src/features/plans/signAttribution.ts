import { unavailable } from '../../kernel/errors.js'
import { SignerFailed } from '../../rpc/signer.js'
import type { DistributorRecord } from '../catalogue/index.js'
import type { ActionContext } from './target.js'

/**
 * Signs an attribution. If the signer fails, the plan is refused, or built without a signature if the operator allows it; never
 * for a distributor whose unsigned deposits do not count.
 */
export async function signAttribution(
  { attributionSigner, config, log }: Pick<ActionContext, 'attributionSigner' | 'config' | 'log'>,
  distributor: Pick<DistributorRecord, 'signedOnly'>,
  digest: Uint8Array,
): Promise<Uint8Array | undefined> {
  try {
    return await attributionSigner?.sign(digest)
  } catch (error) {
    if (!(error instanceof SignerFailed)) throw error
    if (!config.unsignedFallback || distributor.signedOnly)
      throw unavailable('attributions cannot be signed right now; try again shortly', {
        cause: error,
        retryAfterSeconds: 5,
      })
    log.warn({ err: error }, 'a plan was built without a signature: the signer of attributions fails')
    return undefined
  }
}
