import { buildSuffix } from '@openearn/attribution'
import { type Address, concat, type Hex, keccak256, numberToHex, pad } from 'viem'
import { account } from '../../../contracts/test/anvil.js'
import { keyOf } from '../actionWorld.js'
import { type Call, encode } from '../attacks/creditWorld.js'
import {
  batch,
  bundle,
  bundler,
  delegated,
  entryPoint,
  gas,
  openProofWallets,
  type ProofWallets,
  plainOnes,
  relayer,
  unit,
} from './proofWallets.js'
import type { Random } from './random.js'

/** Wallets of every kind that act at random, in blocks of several transactions. */

export type ProofWorld = Awaited<ReturnType<typeof openProofWorld>>

/** A transaction that was mined, by the kind of wallet that brought it; `isPlain`: the block proves each of its entries. */
export type Sent = { hash: Hex; raw: Hex; kind: string; isPlain: boolean }

type Draft = Call & { from: number; kind: string; isPlain: boolean; delegates?: boolean }

const other = 10
const senders = [...plainOnes, ...delegated, relayer, bundler]

export async function openProofWorld(random: Random) {
  const wallets = await openProofWallets(random)
  const { world, batchAccount } = wallets
  const { client } = world.anvil
  const nonces = new Map<number, number>()
  for (const index of senders) nonces.set(index, await client.getTransactionCount({ address: account(index).address }))
  await client.setAutomine(false)

  const takeNonce = (of: number): number => {
    const nonce = nonces.get(of) ?? 0
    nonces.set(of, nonce + 1)
    return nonce
  }
  /** Signed in a random one of the forms that a block can hold. */
  const sign = async ({ from, to, data, delegates }: Draft): Promise<Hex> => {
    const signer = account(from)
    const nonce = takeNonce(from)
    const common = { chainId: world.chainId, to, data, gas: from === bundler ? gas : gas / 4n, nonce, value: 0n }
    const fees = { ...common, maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 1n }
    if (delegates) {
      // Somebody else's delegation goes along: one of the signer's own would leave a gap between its nonces.
      const named = { chainId: world.chainId, address: batchAccount, nonce: takeNonce(other) }
      const authorizationList = [await account(other).signAuthorization(named)]
      return signer.signTransaction({ ...fees, type: 'eip7702', authorizationList })
    }
    const way = random.next()
    if (way < 0.2) return signer.signTransaction({ ...common, type: 'legacy', gasPrice: 10n ** 10n })
    const accessList = [{ address: to, storageKeys: [pad('0x01')] }]
    if (way < 0.3) return signer.signTransaction({ ...common, type: 'eip2930', gasPrice: 10n ** 10n, accessList })
    return signer.signTransaction({ ...fees, type: 'eip1559' })
  }
  const kinds = listKinds(random, wallets)
  return {
    world,
    /** One block of so many random transactions. */
    mine: async (count: number): Promise<Sent[]> => {
      const sent: Sent[] = []
      for (let at = 0; at < count; at++) {
        const draft = await random.pick(kinds)()
        const raw = await sign(draft)
        const hash = await client.sendRawTransaction({ serializedTransaction: raw })
        sent.push({ hash, raw, kind: draft.kind, isPlain: draft.isPlain })
      }
      // One block, where all of them find room in it.
      while ((await client.getTxpoolStatus()).pending > 0) await client.mine({ blocks: 1 })
      return sent
    },
  }
}

/** What each kind of wallet may do. */
function listKinds(random: Random, wallets: ProofWallets): readonly (() => Promise<Draft>)[] {
  const { world, vaults, safes, accounts, routers } = wallets
  const amount = () => BigInt(random.chance(0.3) ? random.int(1, 9) : random.int(10, 10_000_000))
  /** A call with a code behind it: a distributor's, signed by us or not, a stranger's, or none. */
  const tag = (call: Hex, wallet: Address, target: Address): Hex => {
    if (random.chance(0.05)) return call
    const code = random.pick(['acme', 'acme', 'acme', 'bolt', 'bolt', 'nobody'])
    const actionId = numberToHex(random.int(0, 2 ** 48), { size: 16 })
    const privateKey = random.chance(0.6) ? keyOf(9).key : keccak256('0x99')
    const given = { code, actionId, chainId: world.chainId, wallet, target, data: call, privateKey }
    return concat([call, buildSuffix(given)])
  }
  /** A deposit or a withdrawal of a wallet. */
  const act = (wallet: Address, owner = wallet): Call => {
    const to = random.pick(vaults)
    const isDeposit = owner !== wallet || random.chance(0.7)
    const data = isDeposit ? encode.deposit(amount(), owner) : encode.redeem(amount() * unit, owner, owner)
    return { to, data: tag(data, wallet, to) }
  }
  return [
    async () => {
      const from = random.pick(plainOnes)
      return { ...act(account(from).address), from, kind: 'EOA', isPlain: true }
    },
    async () => {
      const from = random.pick(plainOnes)
      const owner = account(random.pick(delegated)).address
      return { ...act(account(from).address, owner), from, kind: 'EOA for another', isPlain: false }
    },
    async () => {
      const from = random.pick(delegated)
      const { address: to } = account(from)
      const isPlain = random.chance(0.8)
      const calls = Array.from({ length: isPlain ? 1 : 2 }, () => act(to))
      const kind = isPlain ? '7702' : '7702 of two calls'
      return { from, to, data: batch(calls), kind, isPlain, delegates: random.chance(0.2) }
    },
    async () => {
      const one = random.pick(safes)
      const call = await one.safe.execute(act(one.safe.address), one.nonce++)
      return { ...call, from: relayer, kind: 'Safe', isPlain: true }
    },
    async () => {
      const some = accounts.filter(() => random.chance(0.6))
      const chosen = some.length > 0 ? some : accounts.slice(0, 1)
      const operations = chosen.map((of) => ({ of, call: act(of.sender) }))
      return { from: bundler, to: entryPoint, data: await bundle(world, operations), kind: '4337', isPlain: true }
    },
    async () => {
      const { user, address: to, kind } = random.pick(routers)
      const data = tag(numberToHex(random.int(1, 2 ** 40), { size: 32 }), account(user).address, to)
      return { from: user, to, data, kind, isPlain: kind === 'router' }
    },
    async () => {
      const from = random.pick(plainOnes)
      const other = account(random.pick(delegated)).address
      const shares: Call = { to: random.pick(vaults), data: encode.transfer(other, amount()) }
      const call: Call = random.chance(0.5) ? shares : { to: other, data: '0x' }
      return { ...call, from, kind: 'noise', isPlain: false }
    },
  ]
}
