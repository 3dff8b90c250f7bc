import { streamFactoryAbi, streamFactoryBytecode, testTokenAbi } from '@openearn/contracts'
import { type Abi, type Address, encodeFunctionData, type Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { findStream, recordPoint, recordStream } from '../../features/streams/index.js'
import { daySeconds } from '../../kernel/clock.js'
import { derivedId, uuidToBytes16 } from '../../kernel/ids.js'
import type { Context } from '../../postgres/context.js'
import { inTransaction } from '../../postgres/pool.js'
import { devnetChainId } from '../../rpc/devnet.js'
import { ensureTokenVault } from '../../vaults/configured/index.js'
import { type DevChain, devAccount } from './anvil.js'
import { organizations } from './names.js'

/** Index of the devnet account whose key signs what concerns streams, of that which commits roots, and of the pauser: it settles orders, too. */
export const verifierIndex = 2
export const committerIndex = 3
const pauserIndex = 4

/** The factory of streams, and the stream of tokens that has run on the devnet for thirty days. */
export type DevStreams = {
  factory: Address
  /** No block before it can hold anything of a stream. */
  fromBlock: number
  contract: Address
  rewardToken: Address
  /** When both streams of the past began. */
  startAt: number
}

type Vault = { slug: string; address: Address; shareDecimals: number }
type Call = { from: Address; to: Address; data: Hex }

/** The chain begins 61 days before the clock; blocks of its past lie on a grid of four hours. */
const gridSeconds = 4 * 3_600
const runningDays = 60

export const tokenStreamId = derivedId('devnet:stream:tokens')
export const pointStreamId = derivedId('devnet:stream:points')
const pointId = derivedId('devnet:point')

/** A hundred tokens of 18 decimals a day, shared by all who hold the vault. */
const tokensPerDay = 100n * 10n ** 18n
const net = tokensPerDay * BigInt(runningDays)
/** As the service computes it, of an organization that pays one. */
const fee = (net * 15n) / 1_000n

/** Deploys the factory and says what it pays by; the stream itself is made when the past is played. */
export async function deployStreams(
  chain: DevChain,
  owner: Address,
  rewardToken: Address,
  deploy: (abi: Abi, bytecode: Hex, args: unknown[]) => Promise<{ address: Address; block: number }>,
): Promise<DevStreams> {
  const [verifier, committer, pauser] = [verifierIndex, committerIndex, pauserIndex].map(
    (index) => devAccount(index).address,
  )
  const roles = [verifier, verifier, committer, owner, pauser]
  const abi = streamFactoryAbi as Abi
  const { address: factory, block } = await deploy(abi, streamFactoryBytecode, [owner, roles])
  const args = [uuidToBytes16(tokenStreamId)] as const
  const read = { address: factory, abi: streamFactoryAbi, functionName: 'getStreamAddress', args } as const
  const { timestamp } = await chain.client.getBlock({ blockNumber: 0n })
  const startAt = Math.ceil((Number(timestamp) + 31 * daySeconds) / gridSeconds) * gridSeconds
  return { factory, fromBlock: block, contract: await chain.client.readContract(read), rewardToken, startAt }
}

/** The calls of the stream's admin in its first block: tokens, an allowance, and the signed creation. */
export async function buildCreation({ client }: DevChain, streams: DevStreams, admin: Address): Promise<Call[]> {
  const { factory, rewardToken, startAt } = streams
  const params = { streamId: uuidToBytes16(tokenStreamId), rewardToken, netTotalAmount: net, feeAmount: fee }
  const deadline = startAt + 3_600
  const digest = await client.readContract({
    ...{ address: factory, abi: streamFactoryAbi, functionName: 'getCreateStreamDigest' },
    args: [admin, params, deadline],
  })
  const signature = await privateKeyToAccount(devAccount(verifierIndex).privateKey).sign({ hash: digest })
  const token = (functionName: 'mint' | 'approve', to: Address): Call => ({
    from: admin,
    to: rewardToken,
    data: encodeFunctionData({ abi: testTokenAbi, functionName, args: [to, net + fee] }),
  })
  const args = [params, deadline, signature] as const
  const data = encodeFunctionData({ abi: streamFactoryAbi, functionName: 'createStream', args })
  return [token('mint', admin), token('approve', factory), { from: admin, to: factory, data }]
}

/** Puts the two streams of the devnet into the database, as CreateStream would have thirty days ago. */
export async function recordDevStreams(
  { db }: Pick<Context, 'db'>,
  streams: DevStreams,
  vaults: readonly Vault[],
  admin: Address,
): Promise<void> {
  if (await findStream(db, tokenStreamId)) return
  const target = (slug: string) => {
    const vault = vaults.find((each) => each.slug === slug)
    if (!vault) throw new Error(`the devnet has no vault ${slug}`)
    return { chainId: devnetChainId, address: vault.address.toLowerCase(), decimals: vault.shareDecimals }
  }
  const [dollars, growing] = [target('prime-dai'), target('growth-usdc')]
  const tokenIdOf = ({ address }: { address: string }) => derivedId(`token:${devnetChainId}:${address}`)
  const startsAt = new Date(streams.startAt * 1_000)
  const endsAt = new Date((streams.startAt + runningDays * daySeconds) * 1_000)
  const organizationId = organizations[0].id
  const shared = { organizationId, targetChainId: devnetChainId, startsAt, adapters: [], createdAt: startsAt }
  await inTransaction(db, async (tx) => {
    const idOf = async (token: typeof dollars) => (await ensureTokenVault(tx, token, startsAt)).id
    await recordStream(
      tx,
      {
        ...{ ...shared, id: tokenStreamId, type: 3, targetToken: dollars.address, endsAt, pointId: null },
        ...{ chainId: devnetChainId, rewardToken: streams.rewardToken.toLowerCase(), admin: admin.toLowerCase() },
        ...{ factory: streams.factory.toLowerCase(), contract: streams.contract.toLowerCase() },
        ...{ signedUntil: new Date((streams.startAt + 3_600) * 1_000), fromBlock: streams.fromBlock },
        ...{ totalAmount: net, feeAmount: fee },
        customArgs: { targetTokenId: tokenIdOf(dollars), tokensPerDay: String(tokensPerDay) },
      },
      await idOf(dollars),
    )
    const point = { id: pointId, organizationId, symbol: 'SPARK', name: 'Devnet Sparks', decimals: 18, logoUrl: null }
    await recordPoint(tx, { ...point, createdAt: startsAt, updatedAt: startsAt })
    const unpaid = { chainId: null, rewardToken: null, admin: null, factory: null, contract: null }
    await recordStream(
      tx,
      {
        ...{ ...shared, ...unpaid, id: pointStreamId, type: 1, targetToken: growing.address, endsAt: null, pointId },
        ...{ signedUntil: null, fromBlock: null, totalAmount: null, feeAmount: null },
        customArgs: { targetTokenId: tokenIdOf(growing), tokensPerUSD: String(10n ** 18n) },
      },
      await idOf(growing),
    )
  })
}
