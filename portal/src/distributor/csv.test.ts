import { describe, expect, it } from 'vitest'
import { type Row, toCsv } from './csv.js'

const row: Row = {
  ...{ id: 'a:b', opportunityId: 'o', interaction: 'deposit' as const, txHash: '0x1' as const, chainId: 1 },
  walletAddress: '0x2',
  ...{
    blockTimestamp: '2026-01-01T00:00:00Z',
    amountToken: '1.5',
    amountInUsd: null,
    tokenSymbol: 'USDC',
    tokenIconUrl: null,
  },
  ...{
    isSwap: false,
    distributorId: 'd',
    logIndex: 3,
    blockNumber: 4,
    amountRaw: '1500000',
    finality: 'final' as const,
  },
  attribution: 'signed',
}

describe('the CSV of a ledger', () => {
  it('has a line of names and one for each entry, absent values empty', () => {
    expect(toCsv([row])).toBe(
      'blockTimestamp,interaction,walletAddress,opportunityId,amountToken,tokenSymbol,amountInUsd,attribution,finality,chainId,blockNumber,logIndex,txHash,amountRaw,id\r\n' +
        '2026-01-01T00:00:00Z,deposit,0x2,o,1.5,USDC,,signed,final,1,4,3,0x1,1500000,a:b\r\n',
    )
    expect(toCsv([]).split('\r\n')).toHaveLength(2)
  })

  it('quotes what would end a cell, and turns a symbol that a spreadsheet would run into text', () => {
    const cellOf = (tokenSymbol: string) =>
      toCsv([{ ...row, tokenSymbol }])
        .split('1.5,')[1]
        ?.split(',,signed')[0]
    expect(cellOf('A,"B"')).toBe('"A,""B"""')
    for (const text of ['=1+1', '@x', '+x', '-x', '\tx']) expect(cellOf(text), text).toBe(`'${text}`)
    expect(cellOf('=a\r\nb')).toBe('"\'=a\r\nb"')
  })
})
