// Counts the USD-days of a distributor in a vault on one day (UTC) again, from a node alone: nothing of the service is asked.
//
//   node recount.mjs RPC_URL VAULT CODE 2026-11-20 PRICE_USD
import { pathToFileURL } from 'node:url'
import { attribution } from '@openearn/sdk/verify'
import { createPublicClient, http, parseAbi, parseUnits, zeroAddress } from 'viem'

const abi = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event Deposit(address indexed sender, address indexed owner, uint256 assets, uint256 shares)',
  'function decimals() view returns (uint8)',
  'function asset() view returns (address)',
  'function convertToAssets(uint256) view returns (uint256)',
])
const [interval, daySeconds] = [900n, 86_400n]

export async function recount(rpcUrl, { vault, code, day, priceUsd }) {
  const node = createPublicClient({ transport: http(rpcUrl), cacheTime: 0 })
  const read = (address, functionName, args = [], blockNumber) =>
    node.readContract({ address, abi, functionName, args, ...(blockNumber === undefined ? {} : { blockNumber }) })
  const from = BigInt(Date.parse(`${day}T00:00:00Z`) / 1_000)
  const head = await node.getBlock()
  const to = head.timestamp < from + daySeconds ? head.timestamp : from + daySeconds
  const exponent = BigInt(await read(vault, 'decimals')) + 12n
  const assetDecimals = BigInt(await read(await read(vault, 'asset'), 'decimals'))

  const known = new Map([[head.number, head]])
  const blockOf = async (blockNumber) =>
    known.get(blockNumber) ?? known.set(blockNumber, await node.getBlock({ blockNumber })).get(blockNumber)
  /** The last block at or before an instant. */
  const blockAt = async (instant) => {
    let [low, high] = [0n, head.number]
    while (low < high) {
      const middle = (low + high + 1n) / 2n
      if ((await blockOf(middle)).timestamp <= instant) low = middle
      else high = middle - 1n
    }
    return blockOf(low)
  }
  /** Whether a deposit is a plain call of its owner that names the code last of all. */
  const isCredited = async (hash, owner) => {
    const { to: target, from: caller, input } = await node.getTransaction({ hash })
    if (target?.toLowerCase() !== vault.toLowerCase() || caller.toLowerCase() !== owner.toLowerCase()) return false
    return attribution.decode(input).slice(0, 1).flatMap(attribution.listCodes)[0] === code
  }

  // Lots: of each wallet, the shares that the distributor brought, and all. What leaves takes of both in proportion.
  const toBlock = (await blockAt(to)).number
  const events = await node.getContractEvents({ address: vault, abi, fromBlock: 0n, toBlock })
  const [deposits, lots, steps, sales] = [events.filter(({ eventName }) => eventName === 'Deposit'), new Map(), [], []]
  const lotOf = (wallet) => lots.get(wallet) ?? { own: 0n, all: 0n }
  for (const { eventName, args, blockNumber, transactionHash } of events) {
    const { timestamp } = await blockOf(blockNumber)
    if (eventName === 'Deposit') {
      const sold = args.shares > 1n && ((args.assets + 1n) * 10n ** exponent) / (args.shares - 1n)
      if (sold) sales.push({ blockNumber, timestamp, sold })
      continue
    }
    if (args.from !== zeroAddress) {
      const { own, all } = lotOf(args.from)
      // The lot with the larger fraction gives the unit that is left over.
      const [whole, rest] = [(own * args.value) / all, (own * args.value) % all]
      lots.set(args.from, { own: own - whole - (2n * rest > all ? 1n : 0n), all: all - args.value })
    }
    const minted = args.from === zeroAddress && deposits.find((each) => each.transactionHash === transactionHash)
    if (minted === undefined) throw new Error(`${transactionHash} mints without a deposit: not counted here`)
    const brought = minted && (await isCredited(transactionHash, args.to)) ? args.value : 0n
    const { own, all } = lotOf(args.to)
    if (args.to !== zeroAddress) lots.set(args.to, { own: own + brought, all: all + args.value })
    steps.push({ timestamp, own: [...lots.values()].reduce((sum, lot) => sum + lot.own, 0n) })
  }

  // The paid price: that of the newest snapshot of the grid, but never above a price at which shares were sold since.
  const prices = []
  for (let instant = (from / interval) * interval; instant <= to; instant += interval) {
    const { number, timestamp } = await blockAt(instant)
    if (timestamp > instant || prices.at(-1)?.number === number) continue
    const numerator = await read(vault, 'convertToAssets', [10n ** exponent], number).catch(() => undefined)
    if (numerator !== undefined) prices.push({ number, timestamp, numerator })
  }
  const priceAt = (instant) => {
    const snapshot = prices.findLast(({ timestamp }) => timestamp <= instant)
    const since = sales.filter((sale) => sale.blockNumber > (snapshot?.number ?? 0n) && sale.timestamp <= instant)
    const sold = [snapshot?.numerator ?? 0n, ...since.map((sale) => sale.sold)]
    return sold.sort((a, b) => (a < b ? -1 : 1))[0]
  }
  const instants = [from, to, ...[...steps, ...prices, ...sales].map(({ timestamp }) => timestamp)]
  const bounds = [...new Set(instants)].filter((at) => at >= from && at <= to).sort((a, b) => (a < b ? -1 : 1))
  const sum = bounds.slice(1).reduce((total, end, index) => {
    const held = steps.findLast(({ timestamp }) => timestamp <= bounds[index])?.own ?? 0n
    return total + held * priceAt(bounds[index]) * (end - bounds[index])
  }, 0n)
  return (sum * parseUnits(priceUsd, 18)) / (10n ** (exponent + assetDecimals) * daySeconds)
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [rpcUrl, vault, code, day, priceUsd = '1'] = process.argv.slice(2)
  const units = (await recount(rpcUrl, { vault, code, day, priceUsd })).toString().padStart(19, '0')
  console.log(`${units.slice(0, -18)}.${units.slice(-18)}`)
}
