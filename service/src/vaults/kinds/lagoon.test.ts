import { encodeAbiParameters, encodeEventTopics, parseAbi } from 'viem'
import { expect, it } from 'vitest'
import { decodeVaultEvent } from '../logs.js'

const vault = { id: 1, address: `0x${'1a'.repeat(20)}`, kind: 'lagoon', receiptToken: `0x${'1a'.repeat(20)}` } as const
const [ann, bob] = [`0x${'a1'.repeat(20)}`, `0x${'b2'.repeat(20)}`] as const
const abi = parseAbi([
  'event Deposit(address indexed sender, address indexed owner, uint256 assets, uint256 shares)',
  'event DepositSync(address indexed sender, address indexed owner, uint256 assets, uint256 shares)',
  'event Withdraw(address indexed sender, address indexed receiver, address indexed owner, uint256 assets, uint256 shares)',
  'event WithdrawSync(address indexed sender, address indexed receiver, address indexed owner, uint256 assets, uint256 shares)',
])

it('a deposit and a withdrawal that are made at once are told from claims of requests', () => {
  const data = encodeAbiParameters([{ type: 'uint256' }, { type: 'uint256' }], [70n, 60n])
  const decode = (eventName: 'Deposit' | 'DepositSync' | 'Withdraw' | 'WithdrawSync') => {
    const args = { sender: ann, owner: bob, receiver: ann }
    const topics = encodeEventTopics({ abi, eventName, args } as never) as string[]
    return decodeVaultEvent({ address: vault.address, topics, data, logIndex: 3 } as never, vault as never, [])
  }
  const amounts = { assets: 70n, shares: 60n, owner: bob }
  expect(decode('DepositSync')).toMatchObject({ kind: 'deposit', ...amounts, atOnce: true })
  expect(decode('WithdrawSync')).toMatchObject({ kind: 'withdraw', ...amounts, atOnce: true })
  expect(decode('Deposit')).toMatchObject({ kind: 'deposit', ...amounts })
  expect(decode('Withdraw')).toMatchObject({ kind: 'withdraw', ...amounts })
  for (const claim of ['Deposit', 'Withdraw'] as const) expect(decode(claim)).not.toHaveProperty('atOnce', true)
})
