import { type Address, encodeFunctionData, type Hex, maxUint256 } from 'viem'
import * as suffixes from '../../../packages/attribution/test/suffixes.js'
import * as wrapping from '../../../packages/attribution/test/wrapping.js'
import { topics } from '../topics.js'
import {
  abi,
  accountWallet,
  asset,
  asynchronous,
  byAccount,
  chainId,
  deposited,
  end,
  firstBlock,
  firstTime,
  hashOf,
  type Log,
  lateOne,
  log,
  mark,
  marks,
  move,
  otherToken,
  type Place,
  pad,
  places,
  plain,
  relayer,
  router,
  type Story,
  tokenized,
  users,
  ways,
  who,
  withdrawn,
  zero,
} from './galleryWords.js'
import type { Line, RecordedBlock } from './recording.js'

/**
 * One chain written by hand: every vault kind, every way a call reaches a vault and every mark a distributor leaves,
 * one after the other, with reorganisations. The heights are those of a chain that is years old.
 */

/** A deposit and a withdrawal of a smart account, in every way with every mark. */
function* tellWays(): Generator<Story> {
  let amount = 1_000_000n
  for (const way of Object.values(ways))
    for (const name of Object.keys(marks)) {
      amount += 1_013n
      const on = name === 'a map' ? lateOne : plain
      const write = (data: Hex, ...logs: Log[]): Story => {
        const { through, ...sent } = way(on.address, mark(name, accountWallet, on.address, data))
        return { ...sent, logs: [...logs, ...(through ? [end(through, accountWallet)] : [])] }
      }
      yield write(
        encodeFunctionData({ abi, functionName: 'deposit', args: [amount, accountWallet] }),
        move(on, zero, accountWallet, amount * 2n),
        deposited(on, accountWallet, accountWallet, amount, amount * 2n),
      )
      yield write(
        encodeFunctionData({ abi, functionName: 'redeem', args: [amount, accountWallet, accountWallet] }),
        move(on, accountWallet, zero, amount),
        withdrawn(on, accountWallet, accountWallet, amount / 2n, amount),
      )
    }
}

/** Routers, relayers, gifts, the deposit of several at once, and shares that go from hand to hand. */
function* tellRoutes(): Generator<Story> {
  const assets = 777_001n
  const data = encodeFunctionData({ abi, functionName: 'deposit', args: [assets, users[0] ?? zero] })
  for (const name of Object.keys(marks))
    for (const [index, user] of users.entries()) {
      const other = users[(index + 1) % users.length] ?? zero
      const amount = assets + BigInt(index)
      const routed: Story = {
        from: user,
        to: router,
        input: mark(name, user, router, `0x5eed0001${pad(amount)}`),
        logs: [],
      }
      const [minted, bought] = [move(plain, zero, router, amount), deposited(plain, router, router, amount, amount)]
      // Through a router that hands on all, or a part and keeps the rest.
      yield { ...routed, logs: [minted, bought, move(plain, router, user, amount)] }
      yield { ...routed, logs: [minted, bought, move(plain, router, user, amount - 7n)] }
      // A relayer pays with its own, and the shares are the user's.
      const relayed = [move(plain, zero, user, amount), deposited(plain, relayer, user, amount, amount)]
      yield { from: relayer, to: plain.address, input: mark(name, relayer, plain.address, data), logs: relayed }
      // The user's own, with a fee to somebody, and a part given away at once.
      yield {
        from: user,
        to: plain.address,
        input: mark(name, user, plain.address, data),
        logs: [
          move(plain, zero, who('fee'), amount / 50n),
          move(plain, zero, user, amount - amount / 50n),
          deposited(plain, user, user, amount, amount),
          move(plain, user, other, amount / 3n),
        ],
      }
      yield { from: user, to: plain.address, input: '0xa9059cbb', logs: [move(plain, user, other, amount / 5n)] }
      yield {
        from: user,
        to: plain.address,
        input: mark(
          name,
          user,
          plain.address,
          encodeFunctionData({ abi, functionName: 'redeem', args: [9n, user, user] }),
        ),
        logs: [move(plain, user, zero, amount / 11n), withdrawn(plain, user, user, amount / 11n, amount / 11n)],
      }
    }
  // Two calls of one batch with a mark each, in two vaults; and both in one.
  for (const [first, second] of [
    [plain, lateOne],
    [plain, plain],
    [tokenized, plain],
    [tokenized, tokenized],
  ] as const) {
    const calls = [first, second].map((on, index) => {
      const receive = on.kind === 'erc5115' ? ([accountWallet, asset, 5n, 0n] as const) : ([5n, accountWallet] as const)
      const call = encodeFunctionData({ abi, functionName: 'deposit', args: receive as [bigint, Address] })
      return {
        to: on.address,
        value: 0n,
        data: mark(index === 0 ? 'a code' : 'our signature', accountWallet, on.address, call),
      }
    })
    const input = encodeFunctionData({ abi: wrapping.abi, functionName: 'executeBatch', args: [calls] })
    yield {
      ...byAccount(input),
      logs: [first, second].flatMap((on, index) => depositOf(on, accountWallet, 60n + BigInt(index))),
    }
  }
}

const depositOf = (on: Place, wallet: Address, amount: bigint): Log[] => [
  move(on, zero, wallet, amount),
  on.kind === 'erc5115'
    ? log(on.address, topics.tokenDeposit, [wallet, wallet, asset], [amount, amount])
    : deposited(on, wallet, wallet, amount, amount),
]

/** ERC-5115: with the vault's asset and with another token, which fits no ledger. */
function* tellTokenized(): Generator<Story> {
  for (const name of Object.keys(marks))
    for (const user of users)
      for (const token of [asset, otherToken]) {
        const call = (data: Hex) => ({
          from: user,
          to: tokenized.address,
          input: mark(name, user, tokenized.address, data),
        })
        const amount = 40_000n + BigInt(name.length)
        yield {
          ...call(encodeFunctionData({ abi, functionName: 'deposit', args: [user, token, amount, 0n] })),
          logs: [
            move(tokenized, zero, user, amount),
            log(tokenized.address, topics.tokenDeposit, [user, user, token], [amount, amount]),
          ],
        }
        yield {
          ...call(encodeFunctionData({ abi, functionName: 'redeem', args: [user, amount / 2n, token, 0n, false] })),
          logs: [
            move(tokenized, user, zero, amount / 2n),
            log(tokenized.address, topics.tokenRedeem, [user, user, token], [amount / 2n, amount / 2n]),
          ],
        }
      }
}

/** Requests, settlements, claims by the controller and by another, cancellations, in every asynchronous kind. */
function* tellRequests(): Generator<Story> {
  for (const on of asynchronous)
    for (const [turn, name] of Object.keys(marks).entries())
      for (const user of users) {
        const { address } = on
        const holder = on.escrow ?? address
        const id = on.kind === 'lagoon' ? BigInt(turn + 1) : 0n
        const amount = 9_000n + BigInt(turn * 10)
        const call = (data: Hex, from = user) => ({ from, to: address, input: mark(name, from, address, data) })
        const settle = { from: who('5e'), to: address, input: encodeFunctionData({ abi, functionName: 'settle' }) }
        if (on.kind !== 'erc7540-redeem') {
          yield {
            ...call(encodeFunctionData({ abi, functionName: 'requestDeposit', args: [amount, user, user] })),
            logs: [log(address, topics.depositRequest, [user, user, id], [user, amount])],
          }
          if (turn % 3 === 2) {
            // A request that is called off: at once, or after the vault has agreed.
            const isLagoon = on.kind === 'lagoon'
            if (!isLagoon)
              yield {
                ...call(encodeFunctionData({ abi, functionName: 'cancelDepositRequest', args: [id, user] })),
                logs: [log(address, topics.cancelDepositRequest, [user, id], [user])],
              }
            yield {
              ...call(
                isLagoon
                  ? encodeFunctionData({ abi, functionName: 'cancelRequestDeposit' })
                  : encodeFunctionData({ abi, functionName: 'claimCancelDepositRequest', args: [id, user, user] }),
              ),
              logs: [
                isLagoon
                  ? log(address, topics.depositRequestCanceled, [id, user], [])
                  : log(address, topics.cancelDepositClaim, [user, user, id], [user, amount]),
              ],
            }
            continue
          }
          yield { ...settle, logs: [move(on, zero, holder, amount * 3n)] }
          const claimer = turn % 2 === 0 ? user : relayer
          yield {
            ...call(encodeFunctionData({ abi, functionName: 'deposit', args: [amount, user, user] }), claimer),
            logs: [deposited(on, user, user, amount, amount * 3n), move(on, holder, user, amount * 3n)],
          }
        } else
          yield {
            ...call(encodeFunctionData({ abi, functionName: 'deposit', args: [amount, user] })),
            logs: depositOf(on, user, amount),
          }
        const shares = amount / 2n
        if (on.kind !== 'erc7540-deposit') {
          yield {
            ...call(encodeFunctionData({ abi, functionName: 'requestRedeem', args: [shares, user, user] })),
            logs: [
              move(on, user, holder, shares),
              log(address, topics.redeemRequest, [user, user, id], [user, shares]),
            ],
          }
          yield { ...settle, logs: [move(on, holder, zero, shares)] }
        }
        yield {
          ...call(encodeFunctionData({ abi, functionName: 'redeem', args: [shares, user, user] })),
          logs: [
            ...(on.kind === 'erc7540-deposit' ? [move(on, user, zero, shares)] : []),
            withdrawn(on, user, user, shares / 3n, shares),
          ],
        }
      }
}

/** Logs that look like a vault's and are not: too few words, a transfer of more than anybody holds is not among them. */
function* tellOddities(): Generator<Story> {
  const user = users[0] ?? zero
  const odd = [
    log(plain.address, topics.deposit, [user, user], [1n]),
    log(plain.address, topics.transfer, [user], [1n, 1n]),
    log(plain.address, topics.deposit, [user, user], [maxUint256, maxUint256]),
    deposited(plain, user, user, 5n, 0n),
    withdrawn(plain, user, user, 0n, 0n),
  ]
  for (const each of odd) yield { from: user, to: plain.address, input: `0x${suffixes.schema0('alpha')}`, logs: [each] }
}

export function listGalleryConfiguration(): Line[] {
  return [
    { chain: { chainId, name: 'Gallery' } },
    ...places.map((on): Line => {
      const vault = { ...on, chainId, asset, assetDecimals: 6, receiptDecimals: 18, startBlock: firstBlock }
      return { vault }
    }),
    { price: { chainId, address: asset, usd: '1', at: 0 } },
    { price: { chainId, address: asset, usd: '1.25', at: firstTime + 12 * 60 } },
  ]
}

/** The chain as it came: some blocks are replaced by others with the same transactions, a part of them left out. */
export function listGalleryHistory(): Line[] {
  const stories = [tellWays(), tellRoutes(), tellTokenized(), tellRequests(), tellOddities()].flatMap((each) => [
    ...each,
  ])
  const lines: Line[] = []
  const blocks: RecordedBlock[] = []
  const mine = (some: readonly Story[], branch: string): RecordedBlock => {
    const number = firstBlock + blocks.length
    const parentHash = blocks.at(-1)?.hash ?? hashOf('genesis')
    const block = toBlock(some, { number, parentHash, branch })
    blocks.push(block)
    return block
  }
  const perBlock = 6
  for (let at = 0; at < stories.length; at += perBlock * 8) {
    const chunk = stories.slice(at, at + perBlock * 8)
    const grow = (branch: string, list: readonly Story[]) => {
      const fresh: RecordedBlock[] = []
      for (let from = 0; from < list.length; from += perBlock)
        fresh.push(mine(list.slice(from, from + perBlock), branch))
      lines.push({ append: { chainId, blocks: fresh } })
    }
    const isForked = lines.length % 5 === 2
    if (isForked) {
      const before = blocks.length
      grow(
        'left',
        chunk.filter((_, index) => index % 4 !== 3),
      )
      const ancestor = blocks[before - 1]
      blocks.splice(before)
      if (ancestor) lines.push({ rewind: { chainId, number: ancestor.number, hash: ancestor.hash } })
    }
    grow('kept', chunk)
  }
  return lines
}

function toBlock(
  stories: readonly Story[],
  { number, parentHash, branch }: { number: number; parentHash: string; branch: string },
): RecordedBlock {
  let index = 0
  const hashes = stories.map(({ from, input }, place) => hashOf(`${number} ${place} ${from} ${input}`))
  return {
    number,
    hash: hashOf(`${branch} ${number} ${parentHash}`),
    parentHash,
    timestamp: firstTime + 12 * (number - firstBlock),
    logs: stories.flatMap(({ logs }, place) =>
      logs.map((each) => ({ index: index++, transactionIndex: place, transactionHash: hashes[place] ?? '', ...each })),
    ),
    transactions: stories.flatMap(({ from, to, input, logs }, place) =>
      logs.some((each) => each.topics[0] !== topics.transfer)
        ? [{ index: place, hash: hashes[place] ?? '', from, to, input: input.toLowerCase() }]
        : [],
    ),
  }
}
