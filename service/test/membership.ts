import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import type { Answer, Earn } from './harness.js'
import { seededKey } from './seed.js'

export const appUrl = 'https://app.example.com/earn'

/** A fresh EVM wallet. */
export function createWallet(): PrivateKeyAccount {
  return privateKeyToAccount(seededKey())
}

/** Asks for an agreement and signs it: the body of a CreateMembership call that will succeed. */
export async function agree(earn: Earn, wallet: PrivateKeyAccount, input: Record<string, unknown> = {}) {
  const body = { address: wallet.address, walletEcosystem: 'evm', url: appUrl, ...input }
  const answer = await earn.call('CreateMembershipAgreement', { body })
  if (answer.status !== 200) throw new Error(answer.text)
  const { message, nonce } = answer.body as { message: string; nonce: string }
  const signature = await wallet.signMessage({ message })
  return { address: wallet.address, walletEcosystem: 'evm', signature, nonce, message }
}

/** The last step: sends the signature. */
export function join(earn: Earn, body: Record<string, unknown>): Promise<Answer> {
  return earn.call('CreateMembership', { body })
}

/** Makes a wallet a member by the three steps. */
export async function becomeMember(earn: Earn, wallet: PrivateKeyAccount, distributorId?: string): Promise<void> {
  const body = await agree(earn, wallet)
  const answer = await join(earn, distributorId === undefined ? body : { ...body, distributorId })
  if (answer.status !== 200) throw new Error(answer.text)
}

/** Whether a nonce can still be used. */
export async function isOpen(earn: Earn, nonce: string): Promise<boolean> {
  return (await earn.db`select from agreements where nonce = ${nonce}`).length > 0
}
