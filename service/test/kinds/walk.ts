import {
  type AbiFunction,
  type Address,
  decodeFunctionData,
  encodeFunctionResult,
  type Hex,
  parseAbiItem,
  toFunctionSelector,
} from 'viem'
import { type ExpectedCalls, findContract } from '../../../sdk/src/verify/expected.js'
import type { Read } from '../../src/rpc/multicall.js'
import type { MakingCall } from '../../src/vaults/calls.js'
import type { EmittedEvent, VaultEvent } from '../../src/vaults/events.js'
import type { PlannedKind, VaultCall, VaultKind } from '../../src/vaults/kind.js'
import { batch, bob, cat, codes, entries, openHandChain } from '../handChain.js'
import { type KindFixture, moved, places, told } from './fixture.js'

/** The lists a vault kind stands in. */
export type Lists = {
  kinds: readonly VaultKind[]
  expected: Readonly<Record<string, ExpectedCalls>>
  fixtures: readonly KindFixture[]
  /** First topics that are asked of a node. */
  topics: readonly string[]
  /** The names of the events the debugger decodes of a log. */
  decode(log: { address: string; topics: readonly string[]; data: string }): string[]
  /** docs/vault-kinds.md. */
  docs: string
}

const wallet: Address = cat
/** Their vaults deal with authorised wallets alone, or lock what was deposited, so nothing can be tried by one they do not know. */
const untried = ['maple', 'veda']

/** What is missing of the kinds, or does not fit together, a sentence each. */
export function listGaps(lists: Lists): string[] {
  const { kinds, expected, fixtures } = lists
  const names = kinds.map(({ name }) => name)
  const strangers = [
    ...Object.keys(expected).map((name) => [name, 'the sdk expects calls of it'] as const),
    ...fixtures.map(({ kind }) => [kind, 'it has a fixture'] as const),
  ].filter(([name]) => !names.includes(name))
  return [
    ...names.filter((name, at) => names.indexOf(name) !== at).map((name) => `${name}: two kinds have this name`),
    ...strangers.map(([name, what]) => `${name}: ${what}, but the service does not list it`),
    ...kinds.flatMap((kind) => {
      const fixture = fixtures.find((each) => each.kind === kind.name)
      const gaps = fixture ? listKindGaps(kind, fixture, lists) : ['there is no fixture of it']
      return gaps.map((gap) => `${kind.name}: ${gap}`)
    }),
  ]
}

function listKindGaps(kind: VaultKind, fixture: KindFixture, lists: Lists): string[] {
  const calls = lists.expected[kind.name]
  const plans = isPlanned(kind)
    ? listPlanGaps(kind, fixture, calls)
    : calls
      ? ['the sdk expects calls of it, but nothing is built for it']
      : []
  return [
    ...(lists.docs.includes(`| \`${kind.name}\` |`) ? [] : ['docs/vault-kinds.md has no row of it']),
    ...listEventGaps(kind, fixture, lists),
    ...listRecognitionGaps(kind, fixture, lists.kinds),
    ...plans,
  ]
}

function isPlanned(kind: VaultKind): kind is PlannedKind {
  return kind.plans !== undefined
}

/** What it emits means something, is read and decoded, and is made by calls that are known; and the other way round. */
function listEventGaps(kind: VaultKind, fixture: KindFixture, { topics, decode }: Lists): string[] {
  const contracts = [kind, ...Object.values(kind.beside ?? {})]
  const emits = contracts.flatMap((contract) => [...contract.emits])
  const calls = contracts.flatMap((contract) => [...contract.calls])
  const meanings = emits.map((each) => [each, meaningOf(each, kind, fixture)] as const)
  const emitted = new Set(meanings.flatMap(([, meaning]) => meaning?.kind ?? []))
  const made = new Set(calls.map(({ makes }) => makes))
  // Nothing is deposited into a plain token: its transfers say all.
  const isVault = isPlanned(kind) || emits.length > 0
  const needed: [boolean, VaultEvent['kind']][] = [
    [isVault, 'deposit'],
    [isVault, 'withdraw'],
    [kind.asyncDeposit, 'depositRequest'],
    [kind.asyncRedeem, 'redeemRequest'],
  ]
  return [
    ...needed.flatMap(([is, what]) => (is && !emitted.has(what) ? [`nothing it emits is a ${what}`] : [])),
    ...meanings.flatMap(([{ event, isBeside }, meaning]) =>
      meaning || isBeside ? [] : [`its ${event.name} means nothing`],
    ),
    ...[...emitted].filter((what) => !made.has(what)).map((what) => `no call is said to make its ${what}`),
    ...calls
      .filter(({ makes }) => !emitted.has(makes))
      .map((call) => `its ${call.function.name} makes a ${call.makes}, which it does not emit`),
    ...listRepeated(contracts),
    ...emits
      .filter(({ topic }) => !topics.includes(topic))
      .map(({ event }) => `its ${event.name} is not asked of a node`),
    ...emits
      .filter((each) => !decode(sampleOf(each)).includes(each.event.name))
      .map(({ event }) => `the debugger does not decode its ${event.name}`),
  ]
}

/** Two of the same topic or selector on one contract: only one of them would be found. */
function listRepeated(
  contracts: readonly { emits: readonly EmittedEvent[]; calls: readonly MakingCall[] }[],
): string[] {
  return contracts.flatMap(({ emits, calls }) =>
    [...emits.map(({ topic }) => topic), ...calls.map(({ selector }) => selector)]
      .filter((each, at, all) => all.indexOf(each) !== at)
      .map((each) => `${each} is declared twice`),
  )
}

/** A log of an event, each of its arguments another. */
function sampleOf({ event }: EmittedEvent) {
  const args = event.inputs.map(({ name, type }, at) => [
    name ?? '',
    type === 'address' || type === 'bytes32'
      ? `0x${String(at + 1).padStart(type === 'address' ? 40 : 64, '0')}`
      : type === 'bool'
        ? true
        : BigInt(at + 1),
  ])
  const declaration = `event ${event.name}(${event.inputs
    .map(({ name, type, indexed }) => `${type}${indexed ? ' indexed' : ''} ${name}`)
    .join(', ')})`
  return told(places.vault, declaration, Object.fromEntries(args))
}

function meaningOf(emitted: EmittedEvent, { name }: VaultKind, fixture: KindFixture): VaultEvent | undefined {
  const log = { ...sampleOf(emitted), logIndex: 7, blockNumber: 1, transactionIndex: 0, transactionHash: '0x' }
  const { contracts = {}, before = [] } = fixture
  const vault = { address: places.vault, kind: name, asset: places.asset, receiptToken: places.vault, contracts }
  // An event that others complete finds what was told before it, and shares that go from its contract to a wallet.
  const told = before.map((each) => ({ ...log, ...each, logIndex: 6 }))
  const after = { ...log, ...moved(places.vault, wallet, 5n), logIndex: 8 }
  const meaning = emitted.read(log, vault, [...told, log, after])
  return meaning && members(meaning).every((name) => name in meaning && meaning[name] !== undefined)
    ? meaning
    : undefined
}

/** What has to be said of an event. */
function members(event: VaultEvent): (keyof VaultEvent)[] {
  const said = {
    deposit: ['sender', 'owner', 'assets', 'shares'],
    withdraw: ['sender', 'receiver', 'owner', 'assets', 'shares'],
    depositRequest: ['controller', 'owner', 'requestId', 'sender', 'amount'],
    redeemRequest: ['controller', 'owner', 'requestId', 'sender', 'amount'],
    cancelDepositRequest: ['controller', 'requestId', 'sender'],
    cancelRedeemRequest: ['controller', 'requestId', 'sender'],
    cancelDepositClaim: ['controller', 'receiver', 'requestId', 'sender', 'amount'],
    cancelRedeemClaim: ['controller', 'receiver', 'requestId', 'sender', 'amount'],
  } as const
  return ['logIndex', ...said[event.kind]] as (keyof VaultEvent)[]
}

/** A vault that answers as its fixture does is taken for one of the kind, and for no other. */
function listRecognitionGaps(kind: VaultKind, fixture: KindFixture, kinds: readonly VaultKind[]): string[] {
  const { recognise } = kind
  if (typeof recognise === 'string') return []
  const by = (each: VaultKind) => {
    let found = typeof each.recognise === 'string' ? undefined : answer(each.recognise(places.vault), fixture)
    while (found?.next) found = answer(found.next, fixture)
    return found
  }
  const found = by(kind)
  if (!found) return ['a vault of the kind is not recognised']
  const taken = kinds.findLast((each) => by(each) !== undefined)
  const missing = Object.entries(kind.beside ?? {}).flatMap(([name, { isOptional }]) =>
    isOptional || found.contracts?.[name] !== undefined ? [] : [name],
  )
  return [
    ...(taken && taken !== kind ? [`a vault of the kind is taken for ${taken.name}`] : []),
    ...missing.map((name) => `a vault of the kind is recognised without its ${name}`),
  ]
}

const roles = {
  deposit: 'isDeposit',
  withdraw: 'isWithdraw',
  claimDeposit: 'isClaim',
  cancelDeposit: 'isCancel',
} as const
type Action = keyof typeof roles

function listPlanGaps(kind: PlannedKind, fixture: KindFixture, expected: ExpectedCalls | undefined): string[] {
  const { plans, asyncDeposit, asyncRedeem, readFigures } = kind
  const vault = vaultOf(fixture)
  const figures = readFigures && answer(readFigures({ ...vault, kind: kind.name }), fixture).figures
  const built = buildAll(kind, fixture)
  const waits = asyncDeposit && asyncRedeem
  return [
    ...(readFigures ? [] : ['the figures of its vaults are not read']),
    ...(readFigures && !figures ? ['its vaults answer, and yet have no figures'] : []),
    ...(asyncDeposit === (plans.claimDeposit !== undefined) ? [] : ['what it waits for and what is claimed differ']),
    ...(waits || plans.trial || untried.includes(kind.name) ? [] : ['what completes at once is not tried']),
    ...(expected ? [] : ['the sdk does not know its calls']),
    ...Object.keys(kind.beside ?? {}).flatMap((name) =>
      fixture.contracts?.[name] === undefined ? [`its fixture has no ${name}`] : [],
    ),
    ...(['claimDeposit', 'cancelDeposit'] as const).flatMap((action) =>
      plans[action] && !built.some(([each]) => each === action) ? [`its fixture is refused its ${action}`] : [],
    ),
    ...built.flatMap(([action, call]) => [
      ...listCallGaps(kind, fixture, action, call),
      ...(expected ? listVerdictGaps(kind, fixture, expected, action, call) : []),
    ]),
    ...(['deposit', 'withdraw'] as const).flatMap((action) => listBatchGaps(kind, fixture, action)),
  ]
}

/** Every call that is built for a vault that answers as the fixture does. */
function buildAll(kind: PlannedKind, fixture: KindFixture): [Action, VaultCall][] {
  const { plans } = kind
  const request = { vault: vaultOf(fixture), wallet, requestIds: [0n], requestId: undefined }
  const offers = (['claimDeposit', 'cancelDeposit'] as const).flatMap((action): [Action, VaultCall][] => {
    const read = plans[action]?.(request)
    const offer = read && answer(read, fixture)
    return offer?.refusal === undefined && offer ? [[action, offer.call]] : []
  })
  return [
    ['deposit', buildOne(kind, fixture, 'deposit', 1_000n)],
    ['withdraw', buildOne(kind, fixture, 'withdraw', 1_000n)],
    ...offers,
  ]
}

function buildOne({ plans }: PlannedKind, fixture: KindFixture, action: 'deposit' | 'withdraw', amount: bigint) {
  const vault = vaultOf(fixture)
  const ask = { vault, wallet, slippageBps: 50, requestIds: [0n] }
  const read: Read<{ call: VaultCall }> =
    action === 'deposit'
      ? plans.deposit({ ...ask, tokenIn: vault.asset, amount })
      : plans.withdraw({ ...ask, tokenOut: vault.asset, shares: amount })
  return answer(read, fixture).call
}

/** What a plan calls is a contract of the vault, and its call is known to make something. */
function listCallGaps(kind: PlannedKind, fixture: KindFixture, action: Action, call: VaultCall): string[] {
  const contract = contractAt(kind, fixture, call.to)
  if (!contract) return [`its ${action} calls ${call.to}, which is no contract of the vault`]
  const selector = call.data.slice(2, 10)
  return contract.calls.some((each) => each.selector === selector)
    ? []
    : [`its ${action} calls ${selector}, which is said to make nothing`]
}

function contractAt(kind: VaultKind, { contracts = {} }: KindFixture, address: Address) {
  if (address === vaultOf({ contracts }).address) return kind
  const name = Object.keys(contracts).find((each) => contracts[each] === address)
  return name === undefined ? undefined : kind.beside?.[name]
}

/** The sdk, which is written apart, takes the call for what was asked, and finds it where it goes. */
function listVerdictGaps(
  kind: PlannedKind,
  fixture: KindFixture,
  expected: ExpectedCalls,
  action: Action,
  { to, data }: VaultCall,
): string[] {
  const vault = vaultOf(fixture)
  const asked = { user: wallet, token: vault.asset, minimumOut: 1n, amount: 1_000n, shares: 1_000n, slippageBps: 50 }
  const wanted = { user: wallet, requestId: undefined, amount: undefined }
  const isExpected =
    action === 'deposit' || action === 'withdraw'
      ? expected[roles[action]](data, asked)
      : expected[roles[action]]?.(data, wanted)
  const [target, spender] = [findContract(expected, action, vault), findContract(expected, 'spender', vault)]
  return [
    ...(isExpected ? [] : [`the sdk does not expect its ${action}`]),
    ...(target === to ? [] : [`the sdk expects its ${action} at another contract`]),
    ...(action !== 'deposit' || spender === kind.plans.spender(vault) ? [] : ['the sdk expects another spender']),
    ...((expected.severalTokens === true) === (kind.severalTokens === true)
      ? []
      : ['the sdk counts its tokens otherwise']),
  ]
}

/** Of two calls in one batch the second has a code: it alone is credited, whatever the kind. */
function listBatchGaps(kind: PlannedKind, fixture: KindFixture, action: 'deposit' | 'withdraw'): string[] {
  const [large, small] = [buildOne(kind, fixture, action, 1_000n), buildOne(kind, fixture, action, 5n)]
  const chain = openHandChain({
    vaults: [
      {
        ...{ id: 1, kind: kind.name, startBlock: 0, activeFrom: 0, assetDecimals: 6, escrow: null },
        ...{ address: places.vault, receiptToken: places.vault, asset: places.asset },
        ...(fixture.contracts ? { contracts: fixture.contracts } : {}),
      },
    ],
  })
  const had = fixture.deposit(wallet, 2_000n, 2_000n)
  chain.mine({ from: wallet, to: large.to, input: '0x', logs: had })
  const rows = chain.mine({
    from: bob,
    to: wallet,
    input: batch([large.to, large.data], [small.to, `${small.data}${codes('alpha')}`]),
    logs: [...fixture[action](wallet, 1_000n, 1_000n), ...fixture[action](wallet, 5n, 5n)],
  })
  const credited = [
    ...entries(rows).map((line) =>
      line
        .split(' ')
        .slice(0, 2)
        .concat(line.split(' ')[4] ?? '')
        .join(' '),
    ),
    ...rows.requests.flatMap(({ distributorId, amount }) =>
      distributorId ? [`request ${distributorId} ${amount}`] : [],
    ),
  ]
  const waits = action === 'deposit' ? kind.asyncDeposit : kind.asyncRedeem
  const right = `${waits ? 'request' : action} alpha 5`
  return credited.join() === right
    ? []
    : [`of two ${action}s in a batch, the second with a code, what is credited is "${credited.join(', ')}"`]
}

function vaultOf({ contracts }: Pick<KindFixture, 'contracts'>) {
  return {
    chainId: 31_337,
    address: places.vault,
    asset: places.asset,
    assetDecimals: 6,
    receiptToken: places.vault,
    receiptDecimals: 18,
    ...(contracts ? { contracts } : {}),
  }
}

/** What a read leads to when contracts answer as the fixture says. */
function answer<T>({ reads, answer }: Read<T>, { answers }: KindFixture): T {
  const values = new Map(Object.entries(answers).map(([text, value]) => [parse(text), value] as const))
  const bySelector = new Map([...values].map(([parsed, value]) => [parsed.selector, { abi: parsed.abi, value }]))
  return answer(
    reads.map(({ data }) => {
      if (data === '0x') return account
      const found = bySelector.get(data.slice(0, 10))
      if (!found) return undefined
      const { abi, value } = found
      const result = typeof value === 'function' ? value(decodeFunctionData({ abi: [abi], data }).args) : value
      return encodeFunctionResult({ abi: [abi], functionName: abi.name, result })
    }),
  )
}

/** A balance, and that there is code. */
const account: Hex = `0x${'0'.repeat(64)}${'1'.padStart(64, '0')}`

const parsed = new Map<string, { abi: AbiFunction; selector: string }>()

function parse(declaration: string) {
  const known = parsed.get(declaration)
  if (known) return known
  const abi = parseAbiItem(declaration) as AbiFunction
  const own = { abi, selector: toFunctionSelector(abi) }
  parsed.set(declaration, own)
  return own
}
