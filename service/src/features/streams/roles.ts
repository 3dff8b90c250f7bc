import { streamFactoryAbi } from '@openearn/contracts'
import type { Address } from 'viem'
import type { ChainContext } from '../../rpc/chains.js'
import { combine, multicall, readContract } from '../../rpc/multicall.js'
import { listFactories } from './storeStreams.js'

/** Whom this installation signs and sends as; undefined where it has no such key. */
export type StreamKeys = { creates: string | undefined; withdraws: string | undefined; commits: string | undefined }

const roles = { creates: 0, withdraws: 1, commits: 2 } as const
const said = { creates: 'create verifier', withdraws: 'withdraw verifier', commits: 'committer' } as const

/** Where the factory of a chain gives a role to another address than the one this installation has: a sentence each. */
export async function compareRoles({ db, chains }: ChainContext, keys: StreamKeys): Promise<string[]> {
  const problems: string[] = []
  for (const { chainId, factory } of await listFactories(db)) {
    const chain = chains.get(chainId)
    if (!chain) continue
    const read = (role: number) => readContract(factory as Address, streamFactoryAbi, 'getRole', [role])
    const { answer } = await multicall(
      chain,
      combine({ creates: read(roles.creates), withdraws: read(roles.withdraws), commits: read(roles.commits) }),
    )
    for (const name of ['creates', 'withdraws', 'commits'] as const) {
      const [own, holder] = [keys[name], answer[name]?.toLowerCase()]
      if (own === undefined || own === holder) continue
      problems.push(
        holder === undefined
          ? `the factory ${factory} of streams on chain ${chainId} does not answer who its ${said[name]} is`
          : `the ${said[name]} of the factory ${factory} on chain ${chainId} is ${holder}, and the key here is that of ${own}`,
      )
    }
  }
  return problems
}
