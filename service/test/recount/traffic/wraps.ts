import type { Digits } from '../bytes.js'
import { chooseActs } from './acts.js'
import { type Act, addSuffix, sometimes } from './addSuffix.js'
import { connected } from './connected.js'
import { mayCallItself, mayTell, runAct } from './repeats.js'
import { settled } from './settled.js'
import { type Call, logsOf, newCall, type Run } from './tree.js'
import {
  accounts,
  bundler,
  chainId,
  config,
  created,
  delegating,
  depositData,
  entryPoints,
  forgers,
  implementation,
  multisender,
  paymaster,
  people,
  relayer,
  runDeposit,
  safes,
  say,
  type World,
  zero,
} from './world.js'
import {
  type BatchForm,
  batchForms,
  callData,
  hashOperation,
  type Part,
  type UserOperation,
  type Version,
  writeAggregated,
  writeBatch,
  writeBundle,
  writeMulticall,
  writeMultiSend,
  writeSafe,
} from './write.js'

const beforeExecution = '0xbb47ee3e183a558b1a2ff0874b079f3fc5478b7454eacf2bfc5af2ff5878f972'
export const operationEnded = '0x49628fd1471006c1482da88028e9ce4dbb080b815c9b0344d39e5a8e6ec1419f'

/** Makes an account's calls, one for each act; one in some has no effect, as a call that failed. */
function runParts(world: World, call: Call, account: string, acts: readonly Act[], mayFail: boolean): void {
  for (const act of acts) {
    if (mayFail && world.random.chance(0.2)) continue
    const made = newCall(account, act.target, act.data)
    call.did.push(made)
    runAct(world, act, made)
  }
}

/** An account that is told to make calls: what it is told, and what it then does. */
export function tellAccount(
  world: World,
  account: string,
  acts: readonly Act[],
): { data: Digits; run(call: Call): void } {
  const { random } = world
  const mayFail = random.chance(0.1)
  const forms: readonly BatchForm[] = acts.length === 1 ? batchForms : batchForms.filter((form) => form !== 'execute')
  const form = mayFail ? 'mode' : random.pick(forms)
  const parts: Part[] = acts.map(({ target, data }) => ({ target, data }))
  // The wallet may move the suffix of its only call to the end of what the account is told.
  const moved = acts.length === 1 && random.chance(0.2) ? splitSuffix(parts[0]!.data) : undefined
  if (moved) {
    const act = { ...acts[0]!, data: moved.data }
    return {
      data: `${writeBatch(form, [{ target: act.target, data: act.data }], mayFail)}${moved.suffix}`,
      run: (call) => runParts(world, mayCallItself(world, account, call), account, [act], mayFail),
    }
  }
  return {
    data: sometimes(world, account, account, writeBatch(form, parts, mayFail)),
    run: (call) => {
      mayTell(world, call, account)
      runParts(world, mayCallItself(world, account, call), account, acts, mayFail)
    },
  }
}

/** Calls of this world are four bytes and whole words: what lies behind is the suffix. */
function splitSuffix(data: Digits): { data: Digits; suffix: Digits } | undefined {
  const words = /^(?:6e553f65|a9059cbb|94bf804d|adc9772e|1e9a6950)/.test(data)
    ? 2
    : /^(?:ba087652|85b77f45|7d41c86e|2e2d2984)/.test(data)
      ? 3
      : undefined
  if (words === undefined || data.length === 8 + 64 * words) return undefined
  return { data: data.slice(0, 8 + 64 * words), suffix: data.slice(8 + 64 * words) }
}

type Shape = (world: World) => Run | undefined

/** A person calls what it wants to call. */
const direct: Shape = (world) => {
  const from = world.random.pick(people)
  const act = world.random.pick(chooseActs(world, from))
  const root = newCall(from, act.target, act.data)
  runAct(world, act, root)
  return { root }
}

/** A delegating wallet sends itself a batch, or a relayer sends it one. */
const delegated: Shape = (world) => {
  const wallet = world.random.pick(delegating)
  const { data, run } = tellAccount(world, wallet, chooseActs(world, wallet))
  const root = newCall(world.random.chance(0.7) ? wallet : relayer, wallet, data)
  run(root)
  return { root }
}

const relayed: Shape = (world) => {
  const account = world.random.pick(accounts)
  const { data, run } = tellAccount(world, account, chooseActs(world, account))
  const root = newCall(world.random.pick([relayer, ...people]), account, data)
  run(root)
  return { root }
}

/** A Safe is a proxy: it runs its implementation by delegatecall, and that may run `multiSend` by delegatecall. */
export function tellSafe(
  world: World,
  safe: string,
  acts: readonly Act[],
  relayedBy: string,
): { data: Digits; run(call: Call): void } {
  const isSingle = acts.length === 1 && world.random.chance(0.6)
  const inner = isSingle ? undefined : writeMultiSend(acts.map(({ target, data }) => ({ target, data })))
  const plain = isSingle ? writeSafe(acts[0]!.target, acts[0]!.data, 0) : writeSafe(multisender, inner!, 1)
  const data = sometimes(world, relayedBy, safe, plain)
  return {
    data,
    run: (call) => {
      const proxied = newCall(safe, implementation, data, 'delegatecall')
      call.did.push(proxied)
      mayTell(world, proxied, safe)
      if (inner === undefined) return runParts(world, proxied, safe, acts, false)
      const many = newCall(safe, multisender, inner, 'delegatecall')
      proxied.did.push(many)
      runParts(world, many, safe, acts, false)
    },
  }
}

const ofSafe: Shape = (world) => {
  const safe = world.random.pick(safes)
  const from = world.random.pick([relayer, ...people])
  const { data, run } = tellSafe(world, safe, chooseActs(world, safe), from)
  const root = newCall(from, safe, data)
  run(root)
  return { root }
}

/** A vault that runs parts of its own calldata. */
const multicall: Shape = (world) => {
  const from = world.random.pick(people)
  const acts = [...chooseActs(world, from), ...chooseActs(world, from)]
  const target = world.random.pick(acts).target
  const mine = acts.filter((act) => act.target === target && config.vaults.some(({ address }) => address === target))
  if (mine.length === 0) return undefined
  // Nobody signs a call of many parts: whether a part lies between the two can be read in two ways.
  const data = sometimes(world, relayer, target, writeMulticall(mine.map((act) => act.data)))
  const root = newCall(from, target, data)
  for (const act of mine) {
    // Its calls of others are of the vault; its own logs are of the part.
    const part = { ...newCall(from, target, act.data, 'delegatecall'), name: target }
    root.did.push(part)
    runAct(world, act, part)
  }
  return { root }
}

type Given = { account: string; data: Digits; succeeds: boolean; run(call: Call): void }

function chooseOperations(world: World, without?: string, senders: readonly string[] = [bundler]): Given[] {
  const { random } = world
  const list: Given[] = []
  for (let count = 1 + random.below(3); count > 0; count -= 1) {
    const isSafe = random.chance(0.2)
    const account = random.pick((isSafe ? safes : [...accounts, ...delegating]).filter((each) => each !== without))
    const own = chooseActs(world, account)
    const acts = world.repeats.chance(0.25) ? [...own, depositFor(world, account, senders)] : own
    const told =
      isSafe && random.chance(0.5) ? tellSafe(world, account, acts, account) : tellAccount(world, account, acts)
    list.push({ account, succeeds: random.chance(0.9), ...told })
  }
  return list
}

/** Somebody deposits for whoever sends the bundle, or for anybody, with a code of its own now and then. */
function depositFor(world: World, from: string, receivers: readonly string[]): Act {
  const { repeats } = world
  const vault = repeats.pick(world.synchronous)
  const assets = repeats.between(3, 700)
  const receiver = repeats.pick(receivers)
  const plain = depositData(vault, assets, receiver)
  const data = repeats.chance(0.3) ? sometimes(world, from, vault.address, plain) : plain
  return { target: vault.address, data, run: (call) => runDeposit(world, vault, call, receiver, assets) }
}

/** A bundle as an entry point runs it: a log before, then each operation in a call of its own, each with its log. */
export function writeHandling(
  world: World,
  version: Version,
  given: readonly Given[],
  receivers: readonly string[] = [bundler],
): { data: Digits; run(call: Call): void } {
  const entryPoint = entryPoints[version]
  const operations: UserOperation[] = given.map(({ account, data }) => ({
    sender: account,
    nonce: world.nextNonce++,
    callData: data,
  }))
  const validates = world.repeats.chance(0.2) ? depositFor(world, paymaster, [...receivers, paymaster]) : undefined
  const run = (call: Call) => {
    // What is done while it validates is of no operation.
    if (validates) {
      const validation = newCall(entryPoint, paymaster, '52b7512c')
      call.did.push(validation)
      runParts(world, validation, paymaster, [validates], false)
    }
    call.did.push(say(entryPoint, beforeExecution, [], []))
    given.forEach(({ account, data, succeeds, run: runOne }, index) => {
      const inner = newCall(entryPoint, entryPoint, `0042dc53${data}`)
      call.did.push(inner)
      if (succeeds) {
        const made = newCall(entryPoint, account, data)
        inner.did.push(made)
        runOne(made)
      }
      // A paymaster may deposit too, when the account is done: for itself, or for anybody.
      if (world.random.chance(0.1)) {
        const after = newCall(entryPoint, paymaster, '7c627b21')
        inner.did.push(after)
        const vault = world.random.pick(world.synchronous)
        const assets = world.random.between(3, 200)
        const receiver = world.random.pick([paymaster, ...people])
        const made = newCall(paymaster, vault.address, depositData(vault, assets, receiver))
        after.did.push(made)
        runDeposit(world, vault, made, receiver, assets)
      }
      const hash = hashOperation(version, operations[index]!, entryPoint, chainId)
      inner.did.push(
        say(entryPoint, operationEnded, [hash, account, zero], [operations[index]!.nonce, succeeds ? 1n : 0n, 1n, 1n]),
      )
    })
  }
  const isAggregated = world.random.chance(0.15)
  return { data: isAggregated ? writeAggregated(version, operations) : writeBundle(version, operations), run }
}

const chooseVersion = (world: World): Version => world.random.pick(['0.6', '0.7', '0.7', '0.8'] as const)

const bundle: Shape = (world) => {
  const version = chooseVersion(world)
  const { data, run } = writeHandling(world, version, chooseOperations(world))
  const root = newCall(bundler, entryPoints[version], sometimes(world, bundler, entryPoints[version], data))
  run(root)
  return { root }
}

/** Behind a bundler's contract: given in its calldata in some form, or loaded before. */
const wrapped: Shape = (world) => {
  const version = chooseVersion(world)
  const contract = world.random.pick(forgers)
  const senders = [bundler, contract]
  const { data, run } = writeHandling(world, version, chooseOperations(world, undefined, senders), senders)
  const form = world.random.below(3)
  const input =
    form === 0 ? '' : form === 1 ? `12345678${data}` : writeBatch('execute', [{ target: entryPoints[version], data }])
  const root = newCall(bundler, contract, sometimes(world, bundler, contract, input))
  // Or told to the contract with the very data that the entry point gets.
  if (world.repeats.chance(0.15)) root.data = sometimes(world, bundler, contract, data)
  const handed = world.repeats.chance(0.3) ? sometimes(world, contract, entryPoints[version], data) : data
  const made = newCall(contract, entryPoints[version], root.data.startsWith(data) ? root.data : handed)
  // What the contract does beside the bundle is of no operation.
  const beside = () => {
    if (world.random.chance(0.15)) runParts(world, root, contract, chooseActs(world, contract), false)
  }
  beside()
  root.did.push(made)
  run(made)
  beside()
  return { root }
}

/** An account's operation runs a bundle of another entry point. */
const nested: Shape = (world) => {
  const { random } = world
  const outer = random.pick(accounts)
  const handling = writeHandling(world, '0.7', chooseOperations(world, outer, [bundler, outer]))
  const act: Act = {
    target: entryPoints['0.7'],
    data: sometimes(world, outer, entryPoints['0.7'], handling.data),
    run: handling.run,
  }
  const acts = random.chance(0.5) ? [act] : [act, ...chooseActs(world, outer)]
  const given = { account: outer, succeeds: true, ...tellAccount(world, outer, acts) }
  const version = random.pick(['0.6', '0.8'] as const)
  const { data, run } = writeHandling(world, version, [given])
  const root = newCall(
    bundler,
    entryPoints[version],
    world.repeats.chance(0.5) ? sometimes(world, bundler, entryPoints[version], data) : data,
  )
  run(root)
  return { root }
}

/** A contract that ignores its calldata, which says that a victim deposits with a thief's code, and runs another's call. */
const forged: Shape = (world) => {
  const { random } = world
  const contract = random.pick(forgers)
  const victim = random.pick([...accounts, ...safes, ...delegating])
  const acts = chooseActs(world, victim)
  const told = tellAccount(world, victim, acts)
  const lie = addSuffix(world, {
    wallet: victim,
    target: acts[0]!.target,
    data: splitSuffix(acts[0]!.data)?.data ?? acts[0]!.data,
  })
  const inner = writeBatch('execute', [{ target: acts[0]!.target, data: lie }])
  const forms = [
    writeBatch('execute', [{ target: victim, data: inner }]),
    writeSafe(victim, inner, 0),
    writeBatch('execute', [{ target: acts[0]!.target, data: lie }]),
    writeMulticall([lie]),
    writeBundle('0.7', [{ sender: victim, nonce: 1n, callData: inner }]),
    '',
  ]
  const input = sometimes(world, victim, contract, random.pick(forms))
  const root = newCall(random.pick([relayer, ...people]), contract, input)
  const made = newCall(contract, victim, told.data)
  root.did.push(made)
  told.run(made)
  return { root }
}

/** A contract that puts several people's deposits into one transaction, or hides a code in data it makes up. */
const strange: Shape = (world) => {
  const { random } = world
  const from = random.pick(people)
  const contract = random.pick(forgers)
  const acts = [...chooseActs(world, contract), ...(random.chance(0.5) ? chooseActs(world, contract) : [])]
  const root = newCall(from, contract, sometimes(world, from, contract, callData('zap', 1n, from)))
  runParts(world, root, contract, acts, false)
  // A vault's helper that appends a code by delegatecall.
  for (const made of root.did)
    if ('did' in made && random.chance(0.3) && made.did.length > 0) {
      const helper = newCall(
        made.target,
        implementation,
        addSuffix(world, { wallet: from, target: made.target, data: made.data }),
        'delegatecall',
      )
      helper.did.push(...made.did)
      made.did = [helper]
    }
  return { root }
}

/** A contract whose constructor deposits for who made it; its code may end with a suffix, which is of no call. */
const constructed: Shape = (world) => {
  const { random } = world
  const from = random.pick(people)
  const vault = random.pick(world.synchronous)
  const assets = random.between(3, 400)
  const factory = random.pick(forgers)
  const data = sometimes(world, from, factory, callData('zap', assets, from))
  const root = newCall(from, factory, data)
  const code = sometimes(world, from, created, `600a600c600039${data}`)
  const made = newCall(factory, created, code, 'create')
  root.did.push(made)
  const receiver = random.pick([from, created, factory])
  const plain = depositData(vault, assets, receiver)
  const inner = newCall(created, vault.address, sometimes(world, created, vault.address, plain))
  made.did.push(inner)
  runDeposit(world, vault, inner, receiver, assets)
  return { root }
}

const shapes: readonly Shape[] = [
  direct,
  direct,
  direct,
  delegated,
  delegated,
  relayed,
  relayed,
  ofSafe,
  multicall,
  bundle,
  bundle,
  wrapped,
  nested,
  forged,
  forged,
  strange,
  constructed,
  connected,
  connected,
  settled,
]

/** One transaction of the traffic; one without a log of ours is none. */
export function chooseRun(world: World): Run {
  for (;;) {
    const run = world.random.pick(shapes)(world)
    if (run && logsOf(run.root).length > 0) return run
  }
}
