import { inTransaction, type Queryable } from '../postgres/pool.js'
import { acceptSuspects, listSuspects } from '../prices/index.js'
import { changing, withContext } from './command.js'
import { answer, type Command, parseFlags, parseWhole, UsageError } from './terminal.js'

const usage = `openearn prices suspects                 prices over HTTP that jumped and wait for another to agree
openearn prices accept CHAIN_ID TOKEN    agrees with what is suspect of a token: it prices from its own time on`

export const prices: Command = {
  usage,
  run: async ([verb, ...words]) => {
    if (verb === 'suspects') return suspects(words)
    if (verb === 'accept') return accept(words)
    throw new UsageError(`prices: say suspects or accept\n${usage}`)
  },
}

async function suspects(words: string[]): Promise<void> {
  parseFlags(words, {})
  await withContext(async ({ db }) => {
    const found = await listSuspects(db)
    answer(
      { suspects: found },
      found.length === 0
        ? ['no price waits for another to agree']
        : found.map(
            ({ chainId, address, priceUsd, source, observedAt }) =>
              `${chainId} ${address} ${priceUsd} by ${source} at ${observedAt.toISOString()}`,
          ),
    )
  })
}

async function accept(words: string[]): Promise<void> {
  const { positionals } = parseFlags(words, {}, 2)
  const [chain, token] = positionals
  const chainId = parseWhole(chain, 1)
  if (chainId === undefined || token === undefined || !/^0[xX][0-9a-fA-F]{40}$/.test(token))
    throw new UsageError(`prices accept: give the chain id and the address of the token\n${usage}`)
  const address = token.toLowerCase()
  await withContext(async (ctx) => {
    const own = async (tx: Queryable) =>
      (await listSuspects(tx)).filter((each) => each.chainId === chainId && each.address === address)
    const { db } = changing(ctx, ['prices', 'accept', ...words], own)
    const accepted = await inTransaction(db, (tx) => acceptSuspects(tx, { chainId, address }))
    if (accepted === 0) throw new UsageError(`nothing is suspect of ${address} on chain ${chainId}`)
    answer({ chainId, address, accepted }, [`${address}: ${accepted} accepted`])
  })
}
