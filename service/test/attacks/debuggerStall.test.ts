import { createPublicClient, createWalletClient, encodeFunctionData, type Hex, http, parseAbi } from 'viem'
import { privateKeyToAccount, sign } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { waitForReceipt } from '../../src/cli/dev/receipt.js'
import { type Dev, makeFolder, type Started, startDevnet } from '../e2e/process.js'

const frames = 400
/** Different transactions, each looked up twice: ten look-ups at once. */
const transactions = 5
const checks = 200

let devnet: Started & { dev: Dev }
let hostile: Hex[]

const multicallAbi = parseAbi(['function multicall(bytes[] data)'])

/** A suffix as the service writes them, whose signature is one, but of nobody it knows. */
function suffixOf(signature: Hex): string {
  const metadata = `a2616950${'11'.repeat(16)}61675841${signature.slice(2)}`
  const cbor = `a261616461636d65616d${metadata}`
  return `${cbor}${(cbor.length / 2).toString(16).padStart(4, '0')}02${'8021'.repeat(8)}`
}

/** Sends calldata to an address without code: it costs its bytes and nothing else. */
async function send(data: Hex): Promise<Hex> {
  const { rpcUrl, accounts } = devnet.dev
  const account = privateKeyToAccount(accounts[5]!.privateKey)
  const wallet = createWalletClient({ account, transport: http(rpcUrl) })
  const hash = await wallet.sendTransaction({ chain: null, to: `0x${'be'.repeat(20)}`, data, gas: 10_000_000n })
  await waitForReceipt(createPublicClient({ transport: http(rpcUrl) }), hash)
  return hash
}

async function lookUp(hash: Hex): Promise<string> {
  const answer = await fetch(`${devnet.dev.baseUrl}/v2/attribution/${hash}?chainId=${devnet.dev.chainId}`)
  const text = await answer.text()
  expect(answer.status, text).toBe(200)
  return text
}

/** How many look-ups end while a number of health checks are answered one after the other, ten look-ups being on their way. */
async function countLookUps(hashes: readonly Hex[], checks: number): Promise<number> {
  let running = true
  let ended = 0
  const lookUps = [...hashes, ...hashes].map(async (hash) => {
    for (; running; ended++) await lookUp(hash)
  })
  for (let check = 0; check < checks; check++) await (await fetch(`${devnet.dev.opsUrl}/healthz`)).text()
  const counted = ended
  running = false
  await Promise.all(lookUps)
  return counted
}

beforeAll(async () => {
  devnet = await startDevnet(await makeFolder('openearn-stall-'))
  const signature = await sign({ hash: `0x${'42'.repeat(32)}`, privateKey: `0x${'07'.repeat(32)}`, to: 'hex' })
  const call: Hex = `0x6e553f65${'00'.repeat(64)}${suffixOf(signature)}`
  const input = (index: number) =>
    encodeFunctionData({
      abi: multicallAbi,
      functionName: 'multicall',
      args: [Array.from({ length: frames }, (): Hex => `${call.slice(0, 12)}${index}${call.slice(13)}` as Hex)],
    })
  hostile = []
  for (let index = 0; index < transactions; index++) hostile.push(await send(input(index)))
}, 120_000)
afterAll(() => devnet?.stop())

describe('a transaction full of signatures, looked up without a key', () => {
  it('[debugger-stall] holds nobody else up: health checks are answered while look-ups are still being judged', async () => {
    // The first pays for what is made once.
    await lookUp(hostile[0]!)
    // A build that judged on the event loop ended a look-up and more before each.
    expect(await countLookUps(hostile, checks)).toBeLessThan(checks / 2)
  }, 120_000)

  it('[unbounded-answer] is answered in 256 KiB, and what is beyond is counted', async () => {
    const text = await lookUp(hostile[0]!)
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(256 * 1024)
    const body = JSON.parse(text)
    expect(body.calldata.stacked.length + body.omitted.stacked).toBe(frames - 1)
  })
})
