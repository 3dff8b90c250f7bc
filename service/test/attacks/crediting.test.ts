import { rm } from 'node:fs/promises'
import { type Address, getContractAddress, type Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { patience } from '../../../contracts/test/patience.js'
import { present } from '../../../contracts/test/present.js'
import { until } from '../../../contracts/test/until.js'
import { type Dev, makeFolder, type Started, startDevnet } from '../e2e/process.js'
import { cases, castOf } from './attributionCases.js'
import { encode, entryPoint, openCreditWorld, scriptCode, vaultAbi } from './creditWorld.js'
import { deployAppendingVault, evidenceOf, readSettled, startUntraced, trustTraces } from './evidences.js'

let dataDir: string
let devnet: Started & { dev: Dev }
let world: Awaited<ReturnType<typeof openCreditWorld>>

beforeAll(async () => {
  dataDir = await makeFolder('openearn-crediting-')
  devnet = await startDevnet(dataDir)
  world = await openCreditWorld(devnet.dev, dataDir)
  await world.openEntryPoint()
  for (const user of [victim(), owner()]) await world.delegate(user)
  for (const { privateKey } of devnet.dev.accounts.slice(0, 6)) await world.client.join(privateKey)
}, 180_000)
afterAll(async () => {
  await devnet?.stop()
  await rm(dataDir, { recursive: true, force: true })
}, 60_000)

/** A smart account whose operations others relay, one that sends its own batches, plain users, and the thief. */
const [victim, owner, user, thief, saver] = [
  () => world.users[1]!,
  () => world.users[2]!,
  () => world.users[3]!,
  () => world.users[4]!,
  () => world.users[5]!,
]
const vaultAt = (index: number) => world.vaults[index]!
const whole = (index: number, amount: bigint) => amount * 10n ** BigInt(vaultAt(index).asset.decimals)
/** Looks at every fiftieth turn only: each look is a process, which takes the time of those that are waited for. */
const seldom = <T>(look: () => Promise<T>) => {
  let turn = 0
  return async () => (turn++ % 50 === 0 ? look() : undefined)
}
const seldomLooks = 9_000 * patience
const signedBy = (code: string) => ({ distributorId: code, attribution: 'signed' })

describe('who brought what is read from what was executed', () => {
  it('[forged-frame] calldata that only says an account deposits, with a plan a rival had signed, takes nothing', async () => {
    const vault = vaultAt(0)
    const amount = whole(0, 50n)
    await world.send(victim(), vault.asset.address, encode.approve(vault.vaultAddress))
    const own = await world.planDeposit(victim().address, vault, amount, world.aurora)
    const operation = await world.operation(victim(), world.execute({ to: vault.vaultAddress, data: own }))
    const forger = await world.deploy(scriptCode([{ to: entryPoint, data: world.bundle(operation) }]))
    const stolen = await world.planDeposit(victim().address, vault, amount, world.borealis)
    const claimed = world.execute({
      to: victim().address,
      data: world.execute({ to: vault.vaultAddress, data: stolen }),
    })
    const hash = await world.send(thief(), forger, claimed)
    expect((await world.entriesOf(hash)).filter(({ distributorId }) => distributorId === world.borealis)).toEqual([])
    const debugged = await world.debug(hash)
    expect(debugged).toMatchObject({ attributed: false, distributorId: null, action: null })
    expect(debugged.calldata.problems).toContain('needs a trace')
  }, 60_000)

  it('[stripped-bundle] a contract between the bundler and the EntryPoint takes no credit away', async () => {
    const vault = vaultAt(0)
    const own = await world.planDeposit(victim().address, vault, whole(0, 20n), world.aurora)
    const operation = await world.operation(victim(), world.execute({ to: vault.vaultAddress, data: own }))
    const helper = await world.deploy(scriptCode({ passOn: entryPoint }))
    const hash = await world.send(thief(), helper, world.bundle(operation))
    expect(await world.entriesOf(hash)).toMatchObject([
      { ...signedBy(world.aurora), walletAddress: victim().address, amountRaw: String(whole(0, 20n)) },
    ])
  }, 60_000)

  it('[one-unit-relayer] who keeps one unit of what it delivers is credited with one unit', async () => {
    const vault = vaultAt(0)
    const amount = whole(0, 100n)
    const args = [amount] as const
    const shares = await world.client.chain.readContract({
      address: vault.vaultAddress,
      abi: vaultAbi,
      functionName: 'previewDeposit',
      args,
    })
    const nonce = await world.client.chain.getTransactionCount({ address: world.users[0]!.address })
    const router = getContractAddress({ from: world.users[0]!.address, nonce: BigInt(nonce) })
    const calls = [
      { to: vault.asset.address, data: encode.transferFrom(user().address, router, amount) },
      { to: vault.asset.address, data: encode.approve(vault.vaultAddress) },
      { to: vault.vaultAddress, data: encode.deposit(amount, router) },
      { to: vault.vaultAddress, data: encode.transfer(user().address, (shares * 99n) / 100n) },
      { to: vault.vaultAddress, data: encode.transfer(thief().address, 1n) },
    ]
    expect(await world.deploy(scriptCode(calls))).toBe(router)
    await world.send(user(), vault.asset.address, encode.approve(router))
    const hash = await world.send(thief(), router, `0x5eed0001${world.tag(world.borealis)}` as Hex)
    const entries = await world.entriesOf(hash)
    expect(entries).toHaveLength(1)
    expect(entries[0]).toMatchObject({ distributorId: world.borealis, walletAddress: thief().address })
    expect(BigInt(entries[0].amountRaw)).toBeLessThanOrEqual(2n)
  }, 60_000)

  it('[invented-deposits] deposits taken back in the same transaction are no entries, however many', async () => {
    const vault = vaultAt(0)
    const shares = whole(0, 900n)
    const nonce = await world.client.chain.getTransactionCount({ address: world.users[0]!.address })
    const wash = getContractAddress({ from: world.users[0]!.address, nonce: BigInt(nonce) })
    const cycle = [
      { to: vault.vaultAddress, data: encode.mint(shares, thief().address) },
      { to: vault.vaultAddress, data: encode.transferFrom(thief().address, wash, shares) },
      { to: vault.vaultAddress, data: encode.redeem(shares, wash, wash) },
    ]
    const cycles = Array.from({ length: 60 }, () => cycle).flat()
    const first = { to: vault.asset.address, data: encode.approve(vault.vaultAddress) }
    expect(await world.deploy(scriptCode([first, ...cycles]))).toBe(wash)
    await world.send(thief(), vault.asset.address, encode.transfer(wash, whole(0, 1_000n)))
    await world.send(thief(), vault.vaultAddress, encode.approve(wash))
    const hash = await world.send(thief(), wash, `0x5eed0001${world.tag(world.borealis)}` as Hex)
    expect(await world.entriesOf(hash)).toEqual([])
  }, 60_000)

  it('[permit-takes-credit] a code behind a call that makes no deposit takes none', async () => {
    const vault = vaultAt(0)
    const data = await world.planDeposit(owner().address, vault, whole(0, 10n), world.aurora)
    const silent = `${encode.transfer(owner().address, 0n)}${world.tag(world.borealis)}` as Hex
    const calls = [
      { to: vault.asset.address, data: encode.approve(vault.vaultAddress) },
      { to: vault.vaultAddress, data: silent },
      { to: vault.vaultAddress, data },
    ]
    const hash = await world.send(owner(), owner().address, world.executeBatch(calls))
    expect(await world.entriesOf(hash)).toMatchObject([signedBy(world.aurora)])
  }, 60_000)
})

describe('what a signature is worth', () => {
  it('[replayed-signature] a plan that is sent again is unsigned', async () => {
    const vault = vaultAt(0)
    await world.send(user(), vault.asset.address, encode.approve(vault.vaultAddress))
    const data = await world.planDeposit(user().address, vault, whole(0, 5n), world.borealis)
    const found = []
    for (let time = 0; time < 3; time++)
      found.push(...(await world.entriesOf(await world.send(user(), vault.vaultAddress, data))))
    expect(found.map(({ attribution }) => attribution)).toEqual(['signed', 'unsigned', 'unsigned'])
    const again = await world.send(user(), vault.vaultAddress, data)
    await world.entriesOf(again)
    expect((await world.debug(again)).calldata.problems).toContain('signature already used')
  }, 60_000)

  it('[small-signs-large] a signature over one deposit does not sign the larger one beside it', async () => {
    const vault = vaultAt(0)
    const small = await world.planDeposit(owner().address, vault, whole(0, 1n), world.borealis)
    const bare = encode.deposit(whole(0, 1n), owner().address)
    const suffix = small.slice(bare.length)
    const large = `${encode.deposit(whole(0, 900n), owner().address)}${suffix}` as Hex
    const calls = [small, large].map((data) => ({ to: vault.vaultAddress, data }))
    const hash = await world.send(owner(), owner().address, world.executeBatch(calls))
    const entries = (await world.entriesOf(hash)).sort((a, b) => a.logIndex - b.logIndex)
    expect(entries.map(({ amountRaw, attribution }) => [amountRaw, attribution])).toEqual([
      [String(whole(0, 1n)), 'signed'],
      [String(whole(0, 900n)), 'unsigned'],
    ])
  }, 60_000)
})

// Both wait for the same minute to end, of wallets and vaults of their own.
describe.concurrent('whose shares are whose', () => {
  it('[zero-share-deposit] a deposit that mints nothing takes no other deposit’s shares', async () => {
    const vault = vaultAt(2)
    const from = present()
    const calls = [
      { to: vault.asset.address, data: encode.approve(vault.vaultAddress) },
      { to: vault.vaultAddress, data: `${encode.deposit(0n, owner().address)}${world.tag(world.borealis)}` as Hex },
      {
        to: vault.vaultAddress,
        data: `${encode.deposit(whole(2, 1_000n), owner().address)}${world.tag(world.aurora)}` as Hex,
      },
    ]
    const hash = await world.send(owner(), owner().address, world.executeBatch(calls))
    expect(await world.entriesOf(hash)).toContainEqual(expect.objectContaining({ distributorId: world.aurora }))
    const look = async () => {
      const found = { aurora: 0, borealis: 0 }
      found.aurora = await world.usdDays(world.aurora, vault.name, from)
      found.borealis = await world.usdDays(world.borealis, vault.name, from)
      return found.aurora + found.borealis > 0 ? found : undefined
    }
    const reached = await until('USD-days of the deposit', seldom(look), seldomLooks)
    expect(reached).toEqual({ aurora: expect.any(Number), borealis: 0 })
    expect(reached.aurora).toBeGreaterThan(0)
  }, 120_000)

  it('[rival-withdrawal] a code on a withdrawal does not decide whose lot shrinks', async () => {
    const vault = vaultAt(3)
    const amount = whole(3, 1n)
    await world.send(saver(), vault.asset.address, encode.approve(vault.vaultAddress))
    for (const code of [world.aurora, world.borealis])
      await world.send(
        saver(),
        vault.vaultAddress,
        `${encode.deposit(amount, saver().address)}${world.tag(code)}` as Hex,
      )
    const shares = await world.client.chain.readContract({
      address: vault.vaultAddress,
      abi: vaultAbi,
      functionName: 'previewDeposit',
      args: [amount],
    })
    const data = `${encode.redeem(shares, saver().address, saver().address)}${world.tag(world.aurora)}` as Hex
    await world.entriesOf(await world.send(saver(), vault.vaultAddress, data))
    const { timestamp } = await world.client.chain.getBlock()
    const from = new Date((Number(timestamp) + 1) * 1_000)
    const look = async () => {
      const held = await world.usdDays(world.borealis, vault.name, from)
      return held > 0 ? { held, own: await world.usdDays(world.aurora, vault.name, from) } : undefined
    }
    const rivals = await until('USD-days after the withdrawal', seldom(look), seldomLooks)
    expect(rivals.own).toBeGreaterThan(rivals.held / 2)
  }, 120_000)
})

describe('what comes of it, where a node tells how transactions ran and where it does not', () => {
  let appending: Address
  let untraced: Awaited<ReturnType<typeof startUntraced>>
  let names: Map<string, string>
  const sent = new Map<string, Hex[]>()

  beforeAll(async () => {
    const cast = castOf(world)
    names = new Map(Object.entries(cast).map(([name, { address }]) => [address.toLowerCase(), name]))
    await world.delegate(cast.rival)
    await world.client.join(devnet.dev.accounts[6]!.privateKey)
    appending = await deployAppendingVault(world, vaultAt(0).asset.address, world.borealis)
    await trustTraces(world, dataDir, appending)
    untraced = await startUntraced(world, dataDir, appending)
    // Without both nothing below means anything.
    await until('one service with traces, and one without', async () => {
      const of = [world.client, untraced.client].map((client) => evidenceOf(client, devnet.dev.chainId))
      return (await Promise.all(of)).join() === 'trace,calldata'
    })
  }, 120_000)
  afterAll(() => untraced?.stop(), 60_000)

  const expectLines = async (title: string) => {
    const { traced, untraced: calldata = traced } = cases.find((each) => each.title === title)!
    const hashes = sent.get(title) ?? []
    const read = (client: typeof world.client, expected: string[]) =>
      readSettled(world, client, { hashes, names, expected })
    expect({
      traced: await read(world.client, traced),
      untraced: await read(untraced.client, calldata),
    }).toEqual({ traced, untraced: calldata })
  }

  it('is asked of two services of one chain, of which one has traces', async () => {
    expect(await evidenceOf(world.client, devnet.dev.chainId)).toBe('trace')
    expect(await evidenceOf(untraced.client, devnet.dev.chainId)).toBe('calldata')
  })

  it.each(cases)(
    '$title',
    async ({ title, play }) => {
      sent.set(title, await play(world, appending))
      await expectLines(title)
    },
    60_000,
  )

  it('stays so once every trace has come', async () => {
    expect(sent.size).toBe(cases.length)
    for (const { title } of cases) await expectLines(title)
  }, 60_000)
})
