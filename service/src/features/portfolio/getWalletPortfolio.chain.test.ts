import { type Abi, type Address, erc20Abi, erc4626Abi } from 'viem'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import { openWorld, type World, type WorldVault } from '../../../test/actionWorld.js'
import { urlOf } from '../../../test/database.js'
import { portfolio as command } from '../../cli/portfolio.js'
import { recordPeg } from '../../prices/index.js'
import { nativeToken } from '../../rpc/native.js'

const unit = 1_000_000n
const alice = account(1)
let world: World
let dollar: Address
let wrapped: Address
let vault: WorldVault
let asynchronous: WorldVault

beforeAll(async () => {
  world = await openWorld()
  dollar = await world.token({ pegUsd: '1' })
  wrapped = await world.wrappedNative()
  await recordPeg(world.earn.ctx, { chainId: world.chainId, address: wrapped.toLowerCase() }, '2000')
  vault = await world.vault(dollar)
  asynchronous = await world.asyncVault(dollar)
  await world.mint(dollar, alice.address, 1_000n * unit)
  await world.write(dollar, erc20Abi, 'approve', [vault.address, 2n ** 255n], alice)
  await world.write(dollar, erc20Abi, 'approve', [asynchronous.address, 2n ** 255n], alice)
  await world.sync()
})
afterAll(() => world?.close())

const deposit = (amount: bigint) =>
  world.write(vault.address, erc4626Abi as Abi, 'deposit', [amount, alice.address], alice)

/** The portfolio at the head: what was read of an earlier one is forgotten. */
async function portfolio(address: string = alice.address, query: Record<string, boolean> = {}) {
  world.earn.clock.advance(5_000)
  const answer = await world.earn.call('GetWalletPortfolio', { params: { address }, query })
  return { answer, ...answer.body.portfolio, wallet: answer.body.portfolio?.holdings.wallets[0] }
}

describe('GetWalletPortfolio 200', () => {
  it('names chains that are listed and not read apart, so that no errors means complete', async () => {
    await world.earn.db`
      insert into chains (chain_id, name, slug, active) values (8453, 'Base', 'base', true), (10, 'Optimism', 'op', true),
        (42161, 'Arbitrum', 'arbitrum', false)`
    await world.refresh()
    expect((await portfolio()).wallet).toMatchObject({ errors: [], unwatched: [10, 8453] })
    await world.earn.db`delete from chains where chain_id in (10, 8453, 42161)`
    await world.refresh()
    expect((await portfolio()).wallet).toMatchObject({ errors: [], unwatched: [] })
  })

  it('tells native and listed tokens, and the shares of a vault at its share price, each once, of one block', async () => {
    await deposit(100n * unit)
    const { wallet, holdings } = await portfolio()
    expect(wallet.errors).toEqual([])
    const head = await world.anvil.client.getBlock()
    expect(wallet.asOf).toEqual([
      {
        ...{ chainId: world.chainId, blockNumber: Number(head.number), blockHash: head.hash },
        timestamp: new Date(Number(head.timestamp) * 1000).toISOString().replace('.000Z', 'Z'),
      },
    ])
    const native = await world.anvil.client.getBalance({ address: alice.address })
    expect(wallet.tokens).toMatchObject([
      { address: nativeToken, isNative: true, amountRaw: String(native), priceUsd: '2000' },
      { address: dollar, isNative: false, amountRaw: String(900n * unit), valueUsd: '900' },
    ])
    expect(wallet.protocols).toMatchObject([
      {
        id: 'vaults',
        portfolio_item_list: [
          {
            ...{ name: 'Yield vault', type: 'yield', opportunity_id: vault.opportunityId },
            pool: { id: vault.address, chain: String(world.chainId) },
            detail: { supply_token_list: [{ address: dollar, amount_raw: String(100n * unit), value_usd: '100' }] },
          },
        ],
      },
    ])
    expect(Number(holdings.totalUsd)).toBeCloseTo(Number(native) / 5e14 + 1000, 6)
    const all = await portfolio(alice.address, { includeProtocolTokens: true })
    expect(all.holdings.totalUsd).toBe(holdings.totalUsd)
    expect(all.wallet.tokens).toContainEqual(
      expect.objectContaining({ address: vault.address, isProtocolToken: true, valueUsd: '100', priceUsd: '1' }),
    )
  })
})

describe('what is held of a token', () => {
  it('has no value before its price was observed and after that ran out, and is named', async () => {
    const late = await world.token()
    await world.refresh()
    await world.mint(late, alice.address, 2n * unit)
    const { timestamp } = await world.anvil.client.getBlock()
    const at = (seconds: number) => new Date((Number(timestamp) + seconds) * 1_000)
    const observe = (priceUsd: string, from: Date, until: Date) => world.earn.db`
      insert into price_observations (chain_id, address, price_usd, source, observed_at, valid_until)
      values (${world.chainId}, ${late.toLowerCase()}, ${priceUsd}, 'test', ${from}, ${until})`
    const tell = async () => {
      world.earn.ctx.catalogue.answers.forget()
      const { wallet, holdings } = await portfolio()
      const row = wallet.tokens.find(({ address }: { address: string }) => address === late)
      const named = wallet.errors.filter(({ source }: { source: string }) => source === 'price')
      return { totalUsd: holdings.totalUsd, row, named: named.length }
    }
    const missing = await tell()
    expect(missing).toMatchObject({ row: { priceUsd: null, valueUsd: null }, named: 1 })
    await observe('5', at(-7_200), at(-1))
    await observe('9', at(1), at(7_200))
    expect(await tell()).toEqual(missing)
    await observe('4', at(-3_600), at(0))
    expect(await tell()).toMatchObject({ row: { priceUsd: '4', valueUsd: '8' }, named: 0 })
  })
})

/** What the command prints. */
async function run(words: string[]): Promise<string> {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  try {
    await command.run(words)
    return write.mock.calls.map(([text]) => String(text)).join('')
  } finally {
    write.mockRestore()
  }
}

describe('openearn portfolio', () => {
  beforeAll(async () => {
    vi.stubEnv('DATABASE_URL', urlOf(world.earn.target))
    await world.earn.db`update chains set rpc_urls = ${[world.anvil.url]} where chain_id = ${world.chainId}`
  })
  afterAll(() => {
    vi.unstubAllEnvs()
  })

  it('prints every term of the sum with its price, the sum, and the block, as the operation answers them', async () => {
    const { wallet, holdings } = await portfolio()
    const lines = (await run([alice.address])).split('\n')
    const cells = lines.map((line) => line.trim().split(/ {2,}/))
    for (const { symbol, amount, priceUsd, valueUsd } of wallet.tokens)
      expect(cells).toContainEqual([`chain ${world.chainId}`, 'wallet', symbol, amount, priceUsd, valueUsd])
    const shares = cells.filter(([, where]) => where?.endsWith('(yield)'))
    expect(shares).toHaveLength(1)
    expect(lines).toContain(`total ${holdings.totalUsd} USD`)
    const [{ blockNumber, blockHash, timestamp }] = wallet.asOf
    expect(lines).toContain(`chain ${world.chainId} at block ${blockNumber} (${blockHash}), ${timestamp}`)
    const usd = cells.filter(([first]) => first === `chain ${world.chainId}`).map((line) => Number(line[5]))
    expect(usd.reduce((sum, each) => sum + each, 0)).toBeCloseTo(Number(holdings.totalUsd), 6)
    expect(await run([alice.address, '--protocol-tokens'])).toMatch(/ {2}\([0-9.]+\)\n/)
  })

  it('refuses no wallet, a word too many and what is no address', async () => {
    await expect(run([])).rejects.toThrow('portfolio: give the address of a wallet')
    await expect(run([alice.address, 'more'])).rejects.toThrow('"more" is a word too many')
    await expect(run(['vitalik.eth'])).rejects.toThrow('address must be an EVM address')
  })
})

describe('GetWalletPortfolio 400 INVALID_ARGUMENT', () => {
  it.each([
    ['an EVM address too short', `0x${'a'.repeat(39)}`],
    ['an EVM address with a letter beyond f', `0x${'g'.repeat(40)}`],
    ['a word before an EVM address', `see:0x${'a'.repeat(40)}`],
    ['a Solana address with a character base58 lacks', 'DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB26O'],
    ['a Solana address of 31 bytes', '1'.repeat(31)],
    ['a TON address with a wrong checksum', 'EQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqB2M'],
    ['a TON address of another workchain', `7:${'a'.repeat(64)}`],
    ['words', 'vitalik.eth'],
  ])('refuses %s', async (_name, address) => {
    const { answer } = await portfolio(address)
    expect(answer).toMatchObject({ status: 400, body: { status: 'INVALID_ARGUMENT' } })
  })

  it('refuses a switch that is neither true nor false', async () => {
    const answer = await world.earn.call('GetWalletPortfolio', {
      ...{ params: { address: alice.address }, query: { includeProtocolTokens: 'yes' } },
    })
    expect(answer).toMatchObject({
      status: 400,
      body: { context: { violations: [{ path: 'includeProtocolTokens' }] } },
    })
  })
})
