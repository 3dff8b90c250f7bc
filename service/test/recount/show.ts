import type { RawBlock } from '../../src/rpc/raw.js'
import { digitsOf } from './bytes.js'
import { readTail } from './suffixes.js'
import { firstTopics } from './told.js'

/** A schedule as short text: each transaction with its calls, the codes behind them, and its logs. */
export function showBlocks(blocks: readonly RawBlock[]): string {
  const codesOf = (input: string) => {
    const { suffixes, problem, data } = readTail(digitsOf(input))
    const codes = suffixes.map(({ codes: list, ours }) => `${list.join('/')}${ours ? '*' : ''}`)
    return `${data.slice(0, 8)}(${data.length / 2}) ${[...codes, ...(problem ? [problem] : [])].join(' ')}`
  }
  const lines: string[] = []
  for (const { transactions, logs, timestamp } of blocks)
    for (const { hash, from, to, input, evidence } of transactions) {
      const kind =
        evidence === undefined || evidence === 'no trace' ? String(evidence) : `trace, logs ${evidence.hasLogs}`
      lines.push(`tx ${hash.slice(-8)} at ${timestamp} ${from} → ${to} ${codesOf(input)} [${kind}]`)
      if (evidence !== undefined && evidence !== 'no trace')
        evidence.calls.forEach(({ parent, kind: how, caller, target, input: data, logs: own, isWord }, place) => {
          lines.push(
            `  ${place}<${parent ?? ''} ${how} ${caller} → ${target} ${codesOf(data)}${isWord ? ' word' : ''} logs ${own.join(',')}`,
          )
        })
      for (const log of logs) {
        if (log.transactionHash !== hash) continue
        const name =
          Object.entries(firstTopics).find(([, topic]) => topic === log.topics[0])?.[0] ?? log.topics[0]!.slice(0, 10)
        const words = [...log.topics.slice(1), ...(digitsOf(log.data).match(/.{64}/g) ?? [])].map((word) =>
          word.replace(/^(0x)?0+/, '').slice(0, 40),
        )
        lines.push(`  log ${log.logIndex} ${log.address.slice(0, 6)} ${name} ${words.join(' ')}`)
      }
    }
  return lines.join('\n')
}
