import { notFound } from '../../kernel/errors.js'
import type { CatalogueContext } from './catalogue.js'
import { isListedToken } from './getTokens.js'
import { toToken } from './item.js'
import { prepareJson } from './memory/prepared.js'
import { findToken } from './memory/snapshot.js'
import { chainKey } from './records.js'

export async function getTokenByAddress(ctx: CatalogueContext, input: { chainId: number; address: string }) {
  const snapshot = ctx.catalogue.current()
  const token = findToken(snapshot, input.chainId, input.address)
  if (!token || !isListedToken(snapshot, token)) throw notFound('no such token')
  return prepareJson(ctx, 'GetTokenByAddress', { key: chainKey(token.chainId, token.address) }, () => toToken(token))
}
