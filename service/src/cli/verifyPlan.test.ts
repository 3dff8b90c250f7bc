import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { UsageError } from './terminal.js'
import { verifyPlanCommand } from './verifyPlan.js'

let folder: string
let printed: string
const plans = async (name = 'plans') => {
  const file = new URL(`../../../sdk/test/vectors/${name}.json`, import.meta.url)
  return JSON.parse(await readFile(file, 'utf8')).plans
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'openearn-plan-'))
  printed = ''
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed += String(text)
    return true
  })
})
afterEach(async () => {
  vi.restoreAllMocks()
  process.exitCode = undefined
  await rm(folder, { recursive: true })
})

async function run(content: unknown): Promise<string> {
  const path = join(folder, 'plan.json')
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content))
  await verifyPlanCommand.run([path])
  return printed
}

describe('openearn verify-plan', () => {
  it('says yes to what was asked, given as transactions or as the whole answer', async () => {
    const [{ request, transactions, context }] = await plans()
    const { vault, chainId, signers, actionId, allowance } = context
    const [to, user] = [transactions[1].transaction.to, request.userAddress]
    expect(await run({ request, transactions, context })).toBe(
      [
        'ok: the plan does exactly what was asked',
        `1: Allow ${to} to take exactly 123000000 units of ${request.tokenIn} from your wallet.`,
        `2: Deposit 123000000 units of ${request.tokenIn} into ${to}; the shares go to ${user}; brought by acme with the referral code friend-1.`,
        '',
      ].join('\n'),
    )
    printed = ''
    const { address, kind, asset } = vault
    const known = {
      chainId,
      vault: { address, kind, asset },
      signers: signers.map((signer: string) => ({ address: signer, from: '2026-01-01T00:00:00Z', to: null })),
      actionId,
      allowance,
      gasCap: '170872',
      names: { [asset]: 'USDC' },
    }
    expect(await run({ request, transactions, context: known })).toMatch(/units of USDC \(0x/)
    printed = ''
    expect(await run({ request, plan: { actionId: 'x', transactions }, context })).toMatch(/^ok/)
    expect(process.exitCode).toBeUndefined()
  })

  it('says yes to a swap without a vault, and to a deposit and a withdrawal that swap, each with its own minimum', async () => {
    const swaps = await plans('swapPlans')
    for (const type of ['swap', 'deposit', 'withdraw']) {
      const { request, transactions, context } = swaps.find(
        (plan: { request: { type: string } }) => plan.request.type === type,
      )
      const { vault, ...known } = context
      printed = ''
      const text = await run({ request, transactions, context: type === 'swap' ? known : context })
      expect(text, type).toMatch(/^ok: .*Swap .* for at least /s)
      expect(text.trim().split('\n')).toHaveLength(1 + transactions.length)
      printed = ''
      const dearer = { ...context, swap: { ...context.swap, minimumOut: String(2n ** 200n) } }
      expect(await run({ request, transactions, context: dearer }), type).toMatch(/no: the swap may give as little as/)
      printed = ''
      const { swap, ...without } = context
      expect(await run({ request, transactions, context: without }), type).toMatch(/^no: /)
      process.exitCode = undefined
    }
  })

  it("says no to a batch that is another wallet's, also of a swap", async () => {
    const [{ request, transactions, context }] = (await plans('swapPlans')).slice(6)
    const calls = transactions.map(({ transaction: { to, data, value } }: { transaction: Record<string, string> }) => ({
      ...{ to, data, value: `0x${BigInt(value!).toString(16)}` },
    }))
    const batch = { version: '2.0.0', chainId: '0x7a69', from: request.user, atomicRequired: true, calls }
    expect(await run({ request, plan: { transactions, batch }, context })).toMatch(/^ok/)
    printed = ''
    const other = { ...batch, from: `0x${'11'.repeat(20)}` }
    expect(await run({ request, plan: { transactions, batch: other }, context })).toMatch(/^no: /)
    expect(process.exitCode).toBe(1)
  })

  it('says no with the reason, and fails', async () => {
    const [{ request, transactions, context }] = await plans()
    const text = await run({ request: { ...request, amount: '1' }, transactions, context })
    expect(text).toMatch(/^no: what comes before the last transaction/)
    expect(process.exitCode).toBe(1)
  })

  it('says no to an answer whose batch does something else', async () => {
    const [{ request, transactions, context }] = await plans()
    const batch = { version: '2.0.0', chainId: '0x7a69', from: request.userAddress, atomicRequired: true, calls: [] }
    expect(await run({ request, plan: { transactions, batch }, context })).toMatch(/^no: the batch has 0 calls/)
    expect(process.exitCode).toBe(1)
  })

  it.each([['no JSON'], [{}], [{ request: {}, context: {} }], [[]]])(
    'explains a file of another form',
    async (content) => {
      await expect(run(content)).rejects.toThrow(UsageError)
    },
  )

  it('wants a file that is there', async () => {
    await expect(verifyPlanCommand.run([])).rejects.toThrow(/give a file/)
    await expect(verifyPlanCommand.run([join(folder, 'none.json')])).rejects.toThrow(/cannot be read/)
  })
})
