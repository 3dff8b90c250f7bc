import type { Credit } from './credit.js'
import { type Attribution, type Decision, weaker } from './deciding.js'
import type { EntryPart } from './entries.js'
import { depositParts, type Lot, withdrawParts } from './flows.js'
import type { Losses } from './losses.js'
import { splitByFraction } from './lots.js'
import { consume, dropDust, type Request } from './requests.js'
import type { Told } from './types.js'

type Group = { name: string | null; amount: bigint; attribution: Attribution; isSwap: boolean; claimed: bigint }

/** SEMANTICS §3a: a claim consumes its controller's requests; what is beyond them is a deposit of its own. */
export function claimDeposit(
  event: Extract<Told, { kind: 'deposit' }>,
  credit: Credit,
  minted: bigint,
  requests: readonly Request[],
  losses: Losses,
): { parts: EntryPart[]; lots: Lot[] } {
  const consumed = consume(
    requests,
    { vaultId: event.vaultId, kind: 'deposit', controller: event.sender },
    event.assets,
    losses,
  )
  if (consumed.length === 0) return depositParts(event, credit, minted)
  dropDust(consumed, event.assets, event.shares)
  const keepers = [...credit.kept].sort(([a], [b]) => (a < b ? -1 : 1))
  const own: Decision | undefined = credit.decisions.get(keepers[0]?.[0] ?? event.sender)
  const groups: Group[] = []
  const add = (name: string | null, amount: bigint, attribution: Attribution, isSwap: boolean, isClaimed: boolean) => {
    if (amount === 0n) return
    const known = groups.find((group) => group.name === name)
    if (!known) groups.push({ name, amount, attribution, isSwap, claimed: isClaimed ? amount : 0n })
    else {
      known.amount += amount
      known.attribution = weaker(known.attribution, attribution)
      known.isSwap ||= isSwap
      if (isClaimed) known.claimed += amount
    }
  }
  // Whether a part of a request was swapped for, the request alone can say.
  const addOwn = (amount: bigint, isClaimed: boolean) =>
    add(own?.distributorId ?? null, amount, own?.attribution ?? 'signed', !isClaimed && own?.isSwap === true, isClaimed)
  for (const { request, amount } of consumed) {
    if (request.distributorId === null) addOwn(amount, true)
    else add(request.distributorId, amount, request.attribution!, request.isSwap, true)
  }
  addOwn(event.assets - consumed.reduce((sum, { amount }) => sum + amount, 0n), false)
  const shares = splitByFraction(groups, minted)
  const kept = keepers.reduce((sum, [, amount]) => sum + amount, 0n)
  const holders = [
    ...keepers.map(([wallet, amount]) => ({ name: wallet as string | null, amount })),
    { name: null, amount: minted - kept },
  ]
  const parts: EntryPart[] = []
  const lots: Lot[] = []
  for (const group of groups) {
    if (group.name === null) continue
    const distributorId = group.name
    // What nobody keeps has no entry, and takes its part of the assets rounded up, as in any deposit.
    const keptAssets = kept === minted ? group.amount : (group.amount * kept) / minted
    const [shareParts, assetParts] = [
      splitByFraction(holders, shares.get(group)!),
      splitByFraction(
        holders.filter(({ name }) => name !== null),
        keptAssets,
      ),
    ]
    for (const holder of holders) {
      if (holder.name === null) continue
      const part = { distributorId, attribution: group.attribution, isSwap: group.isSwap }
      const wallet = group.claimed > 0n ? event.sender : holder.name
      const ofRequest = group.claimed > 0n
      parts.push({ ...part, ofRequest, wallet, assets: assetParts.get(holder)!, shares: shareParts.get(holder)! })
      lots.push({ wallet: holder.name, distributorId, shares: shareParts.get(holder)! })
    }
  }
  return { parts, lots }
}

/** A claimed redemption is the withdrawal of its requests' distributors; it touches no lot. */
export function claimWithdraw(
  event: Extract<Told, { kind: 'withdraw' }>,
  credit: Credit,
  burned: bigint,
  requests: readonly Request[],
  losses: Losses,
): EntryPart[] {
  const consumed = consume(
    requests,
    { vaultId: event.vaultId, kind: 'redeem', controller: event.owner },
    event.shares,
    losses,
  )
  if (consumed.length === 0) return withdrawParts(event, credit, burned, event.assets)
  const groups: (Group & { wallet: string; counted: bigint })[] = []
  for (const { request, amount } of consumed) {
    const { distributorId: name, owner: wallet, attribution, isSwap } = request
    // Of what it took, the old shares less netted ones: whole shares, as the entry carries them.
    const counted = request.amount === 0n ? 0n : (amount * request.counted) / request.amount
    const known = groups.find((group) => group.name === name && group.wallet === wallet)
    if (known) {
      known.amount += amount
      known.counted += counted
      known.attribution = weaker(known.attribution, attribution ?? 'signed')
      known.isSwap ||= isSwap
    } else
      groups.push({
        name,
        wallet,
        amount,
        attribution: attribution ?? 'signed',
        isSwap,
        claimed: amount,
        counted,
      })
  }
  const beyond = event.shares - consumed.reduce((sum, { amount }) => sum + amount, 0n)
  const rest = {
    name: null,
    wallet: '',
    amount: beyond,
    attribution: 'signed' as const,
    isSwap: false,
    claimed: 0n,
    counted: 0n,
  }
  const all = beyond > 0n ? [...groups, rest] : groups
  const assets = splitByFraction(all, event.assets)
  const parts = groups.flatMap((group) => {
    if (group.name === null) return []
    const { wallet, attribution, isSwap, amount, counted: shares } = group
    const part = { distributorId: group.name, attribution, isSwap, wallet, shares }
    return [{ ...part, ofRequest: true, assets: amount === 0n ? 0n : (assets.get(group)! * shares) / amount }]
  })
  // A withdrawal of its own is only what goes beyond the requests, of each who lost shares in proportion.
  const lost = [...credit.kept.values()].reduce((sum, amount) => sum + amount, 0n)
  const within = (amount: bigint) => (lost <= beyond ? amount : (amount * beyond) / lost)
  const own = { ...credit, kept: new Map([...credit.kept].map(([wallet, amount]) => [wallet, within(amount)])) }
  const ownBurned = within(burned)
  return ownBurned > 0n ? [...parts, ...withdrawParts(event, own, ownBurned, assets.get(rest)!)] : parts
}
