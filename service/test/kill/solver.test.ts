import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseAbiItem } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { chainSettings, keyOf } from '../actionWorld.js'
import { openSolverWorld, type SolverWorld } from '../chain/solverWorld.js'
import { seededRandom } from '../seed.js'

const kills = Number(process.env['SOLVER_KILLS'] ?? 5)
const usd = 10n ** 6n
const script = fileURLToPath(new URL('./solverProcess.mjs', import.meta.url))
const tradeEvent = parseAbiItem(
  'event Trade(address indexed owner, address sellToken, address buyToken, uint256 sellAmount, uint256 buyAmount, uint256 feeAmount, bytes orderUid)',
)

let s: SolverWorld
let life: Life | undefined
beforeAll(async () => {
  s = await openSolverWorld()
})
afterAll(async () => {
  life?.child.kill('SIGKILL')
  await s?.world.close()
})

type Life = Awaited<ReturnType<typeof startSolver>>

/** A solver in a process of its own that dies at a step; what it says, line by line, until it is gone. */
async function startSolver(step: number | undefined) {
  const { world } = s
  const input = {
    ...{ target: world.earn.target, settings: chainSettings(world.anvil.url), now: world.earn.clock.now(), step },
    ...{ solverKey: keyOf(2).key, attributionKey: keyOf(9).key },
  }
  const child: ChildProcess = spawn(process.execPath, [script, JSON.stringify(input)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  // What is written to a process that is gone is of no use to anybody.
  child.stdin?.on('error', () => undefined)
  const said = createInterface(child.stdout as NodeJS.ReadableStream)[Symbol.asyncIterator]()
  const ended = once(child, 'exit')
  expect((await said.next()).value).toBe('begins')
  return {
    child,
    /** What it has been through after one more turn; undefined once it is dead. */
    turn: async (): Promise<number | undefined> => {
      child.stdin?.write('turn\n')
      const { done, value } = await said.next()
      return done ? undefined : Number(String(value).split(' ')[1])
    },
    /** How it ended. */
    readEnd: async () => (await ended)[1],
  }
}

/** A block, and what is derived of it. */
async function mine() {
  await s.world.anvil.client.mine({ blocks: 1 })
  await s.world.sync()
}

const isFilled = async (orderId: string) => (await s.status(orderId)).body.status === 'filled'

it(`killed by SIGKILL between any two steps (${kills} deaths) the solver fills each order once, loses none and leaves no nonce out`, {
  timeout: 60_000 + 20_000 * kills,
}, async () => {
  const random = seededRandom()
  const orders: Awaited<ReturnType<SolverWorld['open']>>[] = []
  const before = await s.world.balance(s.tokenOut, s.user.address)
  const open = async () => {
    orders.push(await s.open({ partiallyFillable: orders.length % 2 === 1 }))
    await mine()
  }
  /** Turns until an order is filled and nothing is open any more. */
  const finish = async (of: Life) => {
    const { orderId } = orders.at(-1) as { orderId: string }
    let steps = 0
    for (let turn = 0; turn < 12 && !(await isFilled(orderId)); turn++) {
      steps = (await of.turn()) ?? steps
      await mine()
    }
    return (await of.turn()) ?? steps
  }
  await open()
  life = await startSolver(undefined)
  const stepsOfOrder = await finish(life)
  life.child.kill('SIGKILL')
  await life.readEnd()

  const died = new Set<number>()
  let deaths = 0
  while (deaths < kills) {
    const step = random.int(1, stepsOfOrder)
    life = await startSolver(step)
    let isAlive = true
    while (isAlive) {
      if (await isFilled(orders.at(-1)?.orderId as string)) await open()
      isAlive = (await life.turn()) !== undefined
      await mine()
    }
    expect(await life.readEnd()).toBe('SIGKILL')
    died.add(step)
    deaths += 1
  }
  life = await startSolver(undefined)
  await finish(life)
  life.child.kill('SIGKILL')
  await life.readEnd()

  let paid = 0n
  for (const { orderId, built } of orders) {
    const order = (await s.status(orderId)).body
    expect(order).toMatchObject({ status: 'filled', filledIn: String(1_000n * usd), txHashes: [expect.any(String)] })
    expect(await s.settlement.filledAmount(built.body.orderUid)).toBe(1_000n * usd)
    paid += BigInt(order.filledOut)
  }
  const { client } = s.world.anvil
  const trades = await client.getLogs({ address: s.settlement.address, event: tradeEvent, fromBlock: 0n })
  expect(trades.map(({ args }) => args.orderUid)).toEqual(orders.map(({ built }) => built.body.orderUid))
  expect((await s.world.balance(s.tokenOut, s.user.address)) - before).toBe(paid)
  const sent = await s.world.earn.db<{ nonce: number | null; state: string }[]>`
    select nonce::int as nonce, state from outgoing_transactions order by nonce`
  expect(sent).toEqual(orders.map((_, nonce) => ({ nonce, state: 'confirmed' })))
  expect(await client.getTransactionCount({ address: s.signer.address })).toBe(sent.length)
  console.log(`${deaths} deaths at ${died.size} of ${stepsOfOrder} steps: ${orders.length} orders filled once each`)
})
