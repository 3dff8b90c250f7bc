import { privateKeyToAccount } from 'viem/accounts'
import { isMember } from '../../features/membership/index.js'
import type { Context } from '../../postgres/context.js'
import { devnetChainId } from '../../rpc/devnet.js'
import { devAccount } from './anvil.js'
import { deployerIndex } from './deploy.js'

/** How often a service that is overloaded is asked again: a machine that is busy with its first start answers late. */
const triesMax = 60

/** Makes the account that made the first deposits a member, so that the examples of the reference can be sent as they stand. */
export async function joinDeployer(
  { db, clock }: Pick<Context, 'db' | 'clock'>,
  baseUrl: string,
  apiKey: string,
): Promise<void> {
  const account = privateKeyToAccount(devAccount(deployerIndex).privateKey)
  const { address } = account
  if (await isMember(db, 'evm', address.toLowerCase())) return
  const post = async (path: string, body: object, tries = 1): Promise<{ message: string; nonce: string }> => {
    const headers = { 'X-API-Key': apiKey, 'Content-Type': 'application/json' }
    const response = await fetch(`${baseUrl}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    const text = await response.text()
    if (response.status === 503 && tries < triesMax) {
      await clock.sleep(1_000)
      return post(path, body, tries + 1)
    }
    if (response.status !== 200) throw new Error(`the devnet's own account could not join: ${text}`)
    return JSON.parse(text)
  }
  const who = { address, walletEcosystem: 'evm' }
  const terms = { ...who, url: `${baseUrl}/`, chainId: String(devnetChainId) }
  const { message, nonce } = await post('/v2/membership/agreement', terms)
  await post('/v2/membership/', { ...who, nonce, signature: await account.signMessage({ message }) })
}
