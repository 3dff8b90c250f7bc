import { type PageInput, paginateNav, parsePage } from '../../kernel/page.js'
import type { Context } from '../../postgres/context.js'
import { toActivity } from './activity.js'
import { listActivity } from './storePages.js'

/** Verified deposits and withdrawals of wallets, newest first. */
export async function getWalletActivity(ctx: Context, input: PageInput & { addresses: string[] }) {
  const request = parsePage(input)
  const wallets = [...new Set(input.addresses.map((address) => address.toLowerCase()))]
  const { rows, total } = await listActivity(ctx.db, { wallets }, request)
  return { activity: rows.map(toActivity), pagination: paginateNav(request, total) }
}
