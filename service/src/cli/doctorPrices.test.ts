import { expect, it } from 'vitest'
import { describeFloors } from './doctorPrices.js'

it('names the vaults in which the smallest unit makes an LP, but for plain tokens', () => {
  const vault = { chainId: 1, address: `0x${'a1'.repeat(20)}`, kind: 'erc4626', lpFloor: [] as object[] }
  const [token, floored] = [
    { ...vault, kind: 'erc20', address: `0x${'a2'.repeat(20)}` },
    { ...vault, address: `0x${'a3'.repeat(20)}`, lpFloor: [{ shares: '10' }] },
  ]
  expect(describeFloors([token, floored])).toBe('every vault has one')
  expect(describeFloors([vault, token, floored])).toMatch(new RegExp(`to 1:${vault.address}$`))
})
