import type { Address } from 'viem'
import { account } from '../../contracts/test/anvil.js'
import { openWorld, type World, type WorldVault } from './actionWorld.js'
import type { Answer, CallInput } from './harness.js'

export const usd = 1_000_000n

type Body = Record<string, unknown>
type Options = Pick<CallInput, 'key' | 'headers'> & { id?: string }

export type DepositWorld = Awaited<ReturnType<typeof openDepositWorld>>

/** A world with one member who deposits into the token and vault that `renew` made last. */
export async function openDepositWorld(options: Parameters<typeof openWorld>[0] = {}) {
  const world: World = await openWorld(options)
  const user = account(1)
  await world.join(user.address)
  const state: { token: Address; vault: WorldVault } = await makeVault(world)
  const body = (changes: Body = {}): Body => ({
    userAddress: user.address,
    tokenIn: state.token,
    amount: String(100n * usd),
    distributorId: world.distributorId,
    ...changes,
  })
  return {
    world,
    user,
    /** No member. */
    stranger: account(2),
    /** A token and a vault of its own for a test, and 1,000 of the token for the user. */
    renew: async () => {
      Object.assign(state, await makeVault(world))
      await world.mint(state.token, user.address, 1000n * usd)
      return state
    },
    deposit: (changes: Body = {}, { id, key, headers }: Options = {}): Promise<Answer> =>
      world.earn.call('CreateDepositInteraction', {
        params: { opportunityId: id ?? state.vault.opportunityId },
        body: body(changes),
        ...(key === undefined ? {} : { key }),
        ...(headers ? { headers } : {}),
      }),
  }
}

async function makeVault(world: World) {
  const token = await world.token({ pegUsd: '1' })
  return { token, vault: await world.vault(token, { minDepositUsd: '1' }) }
}

/** The types of a plan's transactions, in order. */
export const typesOf = (answer: Answer): string[] => answer.body.transactions.map(({ type }: { type: string }) => type)
