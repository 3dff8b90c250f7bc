import { streamFactoryAbi } from '@openearn/contracts'
import { type Address, encodeFunctionData } from 'viem'
import type { ChainContext, Chains } from '../../rpc/chains.js'
import { combine, multicall, readContract } from '../../rpc/multicall.js'
import { listFactories, type StreamRow } from './storeStreams.js'

/** Whom this installation signs and sends as; undefined where it has no such key. */
export type StreamKeys = { creates: string | undefined; withdraws: string | undefined; commits: string | undefined }

const roles = { creates: 0, withdraws: 1, commits: 2 } as const
const said = { creates: 'create verifier', withdraws: 'withdraw verifier', commits: 'committer' } as const

const pauserRole = 4

/** The command with which a holder of the role stops the claims of a stream, and who holds it. */
export type ClaimsPause = { holders: string[]; command: string; to: string; data: string }

/** How the claims of a stream are paused on its chain; undefined for points. */
export async function findClaimsPause(
  chains: Chains,
  { chainId, factory, contract }: Pick<StreamRow, 'chainId' | 'factory' | 'contract'>,
): Promise<ClaimsPause | undefined> {
  if (chainId === null || factory === null || contract === null) return undefined
  const chain = chains.get(chainId)
  const ask = combine({
    pauser: readContract(factory as Address, streamFactoryAbi, 'getRole', [pauserRole]),
    owner: readContract(factory as Address, streamFactoryAbi, 'owner', []),
  })
  const { pauser, owner } = chain ? (await multicall(chain, ask)).answer : {}
  const args = [contract as Address, true] as const
  return {
    holders: [...new Set([pauser, owner].flatMap((each) => each?.toLowerCase() ?? []))],
    command: `cast send --chain ${chainId} ${factory} 'setClaimsPaused(address,bool)' ${contract} true`,
    to: factory,
    data: encodeFunctionData({ abi: streamFactoryAbi, functionName: 'setClaimsPaused', args }),
  }
}

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
