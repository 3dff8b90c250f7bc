// Node calls and time of `catalogue probe --all`: node bench/micro/probe.mjs [vaults] [blocks]. After npm run build.
// A run is broken off in the middle and goes on, as after a node that failed. Exits with 1 where a vault takes more calls than
// it may. Anvil takes the longer for a block the more it has, so a chain of 20,000 blocks is made in minutes.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  asyncVaultAbi,
  asyncVaultBytecode,
  cooldownVaultAbi,
  cooldownVaultBytecode,
  faultyVaultAbi,
  faultyVaultBytecode,
  lagoonVaultAbi,
  lagoonVaultBytecode,
  testTokenAbi,
  testTokenBytecode,
  yieldVaultAbi,
  yieldVaultBytecode,
} from '@openearn/contracts'
import { probeAll } from '../../service/dist/cli/probeAll.js'
import { openUnlisted } from '../../service/dist/cli/unlisted.js'
import { systemClock } from '../../service/dist/kernel/clock.js'
import { startChain } from './chain.mjs'

const count = Number(process.argv[2] ?? 300)
const blocks = Number(process.argv[3] ?? 5_000)
/** One of so many is no contract: 20 of 300. */
const strangerEvery = 15
const callsPerVaultMax = 12

const anvil = await startChain()
const deploy = async (input) => {
  const hash = await anvil.client.deployContract(input)
  return (await anvil.client.waitForTransactionReceipt({ hash })).contractAddress
}
const tokens = []
for (const decimals of [6, 18, 8])
  tokens.push(await deploy({ abi: testTokenAbi, bytecode: testTokenBytecode, args: ['Token', 'TKN', decimals] }))

/** One of each kind in turn, a faulty one among ten, and addresses where there is no contract. */
async function makeVault(index) {
  const token = tokens[index % tokens.length]
  if (index % strangerEvery === 0) return `0x${(index + 1).toString(16).padStart(40, 'c')}`
  const settings = { asyncDeposit: true, asyncRedeem: true, separateIds: false, decimalsOffset: 0 }
  switch (index % 10) {
    case 1:
      return deploy({ abi: asyncVaultAbi, bytecode: asyncVaultBytecode, args: [token, 'Async', 'A', settings] })
    case 3:
      return deploy({ abi: lagoonVaultAbi, bytecode: lagoonVaultBytecode, args: [token, 'Lagoon', 'L', 0, true] })
    case 5:
      return deploy({
        abi: cooldownVaultAbi,
        bytecode: cooldownVaultBytecode,
        args: [token, 'Staked', 'S', 0, 86_400],
      })
    case 7:
      return deploy({ abi: faultyVaultAbi, bytecode: faultyVaultBytecode, args: [token, index % 36] })
    default:
      return deploy({
        abi: yieldVaultAbi,
        bytecode: yieldVaultBytecode,
        args: [token, `V${index}`, 'V', 0, 0n, true],
      })
  }
}

const vaults = []
for (let index = 0; index < count; index++) {
  vaults.push({ chainId: 31337, address: (await makeVault(index)).toLowerCase() })
  await anvil.client.mine({ blocks: Math.floor(blocks / count) })
}
console.log(`${count} addresses on a chain of ${await anvil.client.getBlockNumber()} blocks`)

const folder = await mkdtemp(join(tmpdir(), 'openearn-probe-'))
const made = { calls: 0, byMethod: new Map() }
const chain = openUnlisted(31337, [anvil.url])
const { request } = chain.rpc
let breaksAfter = Number.POSITIVE_INFINITY
chain.rpc.request = async (asked) => {
  made.calls += 1
  made.byMethod.set(asked.method, (made.byMethod.get(asked.method) ?? 0) + 1)
  if (made.calls > breaksAfter) throw new Error('the node went away')
  return request(asked)
}
const said = []
const run = () =>
  probeAll({
    findPrices: async () => new Map(),
    ...{ vaults, progressFile: join(folder, 'found'), clock: systemClock, openChain: async () => chain },
    say: (line) => said.push(line),
  })
const startedMs = performance.now()
breaksAfter = Math.floor(count / 2)
await run().catch((error) => console.log(`broken off after ${made.calls} calls: ${error.message}`))
breaksAfter = Number.POSITIVE_INFINITY
const draft = await run()
const seconds = (performance.now() - startedMs) / 1000
const lines = (pattern) => said.filter((line) => pattern.test(line))
console.log([...lines(/known from before/), ...lines(/\[\d/).slice(-2), ...lines(/looking for/)].join('\n'))
const perVault = made.calls / count
const isOver = perVault > callsPerVaultMax
console.log(`${seconds.toFixed(1)} s, ${(count / seconds).toFixed(1)} vaults a second`)
console.log(
  `node calls: ${made.calls}, ${perVault.toFixed(1)} a vault, bound ${callsPerVaultMax}${isOver ? ' EXCEEDED' : ''}`,
)
if (isOver) process.exitCode = 1
console.log([...made.byMethod].map(([method, calls]) => `${method} ${calls}`).join(', '))
const open = draft.opportunities.filter(({ depositEnabled }) => depositEnabled !== false).length
const strangers = lines(/there is no contract at/).length
const rows = lines(/\[\d+\/\d+, /).length
console.log(`${rows} rows of the table, ${strangers} of them no contract`)
if (strangers !== Math.ceil(count / strangerEvery)) process.exitCode = 1
console.log(`${draft.opportunities.length} drafted, ${open} of them open`)
await rm(folder, { recursive: true })
anvil.stop()
