import * as earn from '@openearn/sdk'
import type { AnswerForms } from './document.js'
import type { Input } from './inputs.js'
import * as form from './inputs.js'
import { verifyGivenPlan } from './verifyGivenPlan.js'

/** The service and what tools need to tell its answers. */
export type Tools = { client: earn.EarnClient; forms: AnswerForms }

export type Tool = {
  name: string
  /** Constant: nothing that strangers write stands in it. */
  description: string
  input: Input
  /** The answer, in which texts of strangers stand in members named `untrusted…`. */
  run(tools: Tools, given: never): Promise<Record<string, unknown>>
}

// biome-ignore lint/suspicious/noExplicitAny: answers are told by the document, not by types
type Loose = any

/** A function of the sdk that asks one operation. */
type Operation = {
  [N in keyof typeof earn]: (typeof earn)[N] extends (client: earn.EarnClient, params: never) => Promise<unknown>
    ? N
    : never
}[keyof typeof earn]

const operations = { ...earn }

/** A tool that asks one operation and gives its answer. */
const ask = <G>(
  name: string,
  description: string,
  input: Input,
  operation: Operation,
  toParams: (given: G) => object = (given) => given as object,
): Tool => ({
  ...{ name, description, input },
  run: async ({ client, forms }, given: G) => {
    const answer = await operations[operation](client, toParams(given) as Loose)
    return forms.separate(toOperationId(operation), answer) as Record<string, unknown>
  },
})

/** The operation's id in the document, `GetMembership` of `getMembership`. */
const toOperationId = (operation: string) => `${operation[0]?.toUpperCase()}${operation.slice(1)}`

/** A plan, with the verdict of the sdk on it. Its batch says the same as its transactions and is left out. */
const plan = (
  name: string,
  description: string,
  input: Input,
  type: 'deposit' | 'withdraw' | 'claimDeposit' | 'cancelDeposit' | 'swap',
  operation: Operation,
): Tool => ({
  ...{
    name,
    description: `${description} Nothing is signed or sent. The verdict says whether the plan is what was asked for.`,
    input,
  },
  run: async (tools, given: Record<string, unknown>) => {
    const answer = (await operations[operation](tools.client, given as Loose)) as {
      transactions: Loose[]
      actionId: string
    }
    const { batch: _, ...told } = tools.forms.separate(toOperationId(operation), answer) as Record<string, unknown>
    const { transactions, actionId } = answer
    return {
      ...told,
      verdict: await verifyGivenPlan(tools.client, { request: { ...given, type }, transactions, actionId }),
    }
  },
})

const wallet = form.address('The wallet that signs')
const opportunityId = form.id('Id of the opportunity, from list_opportunities')
const distributorId = {
  type: 'string',
  maxLength: 64,
  description: 'Code of the distributor that is credited',
} as const
const forMember = { userAddress: wallet, distributorId, opportunityId }

/** Members of a row of the catalogue; the rest stands in get_opportunity. */
const rowMembers = [
  ...['id', 'chainId', 'vaultAddress', 'type', 'untrustedName', 'tvl', 'estimatedApr', 'minDepositAmountUsd'],
  ...['swapRouteEnabled', 'freshness', 'baseToken', 'meta'],
]
const tokenMembers = ['address', 'decimals', 'untrustedSymbol', 'priceUsd']
const take = (value: Loose, names: readonly string[]): object =>
  Object.fromEntries(names.filter((name) => value?.[name] !== undefined).map((name) => [name, value[name]]))

/** Every tool: they read, plan, check and explain. None signs, and none takes a key. */
export const tools: readonly Tool[] = [
  {
    name: 'list_opportunities',
    description: 'Yield vaults, ten a page, those with the most money first.',
    input: {
      search: form.optional({
        type: 'string',
        maxLength: 100,
        description: 'Part of a name, a description or an address',
      }),
      chainId: form.optional(form.chainId),
      depositToken: form.optional({
        ...{ type: 'string', pattern: '^0x[0-9a-fA-F]{40}-[1-9][0-9]{0,14}$' },
        description: 'A token that the vault takes, as address-chainId',
      }),
      sortBy: form.optional({ type: 'string', enum: ['tvl', 'apr'], description: 'tvl unless given' }),
      page: form.page,
    },
    run: async ({ client, forms }, { chainId, ...given }: Record<string, Loose>) => {
      const chains = chainId === undefined ? {} : { chainIds: [String(chainId)] }
      const params = { sortBy: 'tvl', sortOrder: 'desc', ...given, ...chains, limit: 10 } as Loose
      const { data, pagination } = forms.separate(
        'ListOpportunities',
        await earn.listOpportunities(client, params),
      ) as Loose
      return {
        data: data.map((row: Loose) => ({ ...take(row, rowMembers), baseToken: take(row.baseToken, tokenMembers) })),
        pagination,
      }
    },
  },
  {
    name: 'get_opportunity',
    description: 'One vault with its tokens, limits and state.',
    input: { id: opportunityId },
    run: async ({ client, forms }, given: Loose) => {
      const row = forms.separate('GetOpportunity', await earn.getOpportunity(client, given)) as Record<string, unknown>
      // The service lists organizations by their names, which strangers choose.
      const sorted = Object.entries(row).map(([name, value]) => [
        name,
        name.endsWith('Ids') ? [value].flat().sort() : value,
      ])
      return Object.fromEntries(sorted)
    },
  },
  ask(
    'get_history',
    'TVL, share price and APY of a vault over time.',
    {
      chainId: form.chainId,
      vaultAddress: form.address('Address of the vault'),
      startDate: form.instant('Begin of the range'),
      endDate: form.optional(form.instant('End of the range; now unless given')),
      step: form.optional({
        type: 'integer',
        minimum: 900,
        maximum: 31_536_000,
        description: 'Seconds between points',
      }),
    },
    'getOpportunityHistorical',
    ({ step = 86_400, ...given }: { step?: number }) => ({ ...given, step: String(step) }),
  ),
  ask('get_portfolio', 'What a wallet holds and earned.', { address: wallet }, 'getWalletPortfolio'),
  ask(
    'get_requests',
    'Deposits and withdrawals of a wallet that vaults have not completed.',
    { address: wallet },
    'getWalletRequests',
  ),
  ask(
    'get_activity',
    'Deposits, withdrawals and claims of a wallet, the newest first.',
    { address: wallet, page: form.page },
    'getWalletActivity',
    ({ address, page = 1 }: { address: string; page?: number }) => ({ addresses: [address], page, limit: 20 }),
  ),
  ask('get_membership', 'Whether a wallet is linked to an account.', { address: wallet }, 'getMembership'),
  ask('get_status', 'How far each chain is read.', { chainId: form.optional(form.chainId) }, 'getIndexingStatus'),
  ask(
    'get_action',
    'What became of a plan: built, submitted, verified, reverted or expired.',
    { actionId: form.id('Id of the plan') },
    'getAction',
  ),
  ask(
    'explain_attribution',
    'Whether a transaction is credited to a distributor, and why: each byte of the suffix in its calldata.',
    {
      txHash: { type: 'string', pattern: '^0x[0-9a-fA-F]{64}$', description: 'Hash of the transaction' },
      chainId: form.optional(form.chainId),
    },
    'getAttribution',
  ),
  plan(
    'plan_deposit',
    'The transactions of a deposit, ready to sign.',
    {
      ...forMember,
      tokenIn: form.token('The token that is given'),
      amount: form.raw('How much of it'),
      mode: form.optional({ type: 'string', enum: ['direct', 'swap'], description: 'swap: any token, swapped first' }),
      slippageBps: form.optional(form.slippageBps),
    },
    'deposit',
    'createDepositInteraction',
  ),
  plan(
    'plan_withdraw',
    'The transactions of a withdrawal, ready to sign.',
    {
      ...forMember,
      amount: form.raw('How many shares'),
      tokenOut: form.optional(form.token('The token that is wanted; the own one of the vault unless given')),
      slippageBps: form.optional(form.slippageBps),
    },
    'withdraw',
    'createWithdrawInteraction',
  ),
  plan(
    'plan_claim',
    'The transactions that claim a settled deposit.',
    forMember,
    'claimDeposit',
    'createClaimDepositInteraction',
  ),
  plan(
    'plan_cancel',
    'The transactions that cancel a pending deposit.',
    forMember,
    'cancelDeposit',
    'createCancelDepositInteraction',
  ),
  plan(
    'plan_swap',
    'The transactions of a swap, ready to sign.',
    {
      ...{ user: wallet, chainId: form.chainId, distributorId },
      ...{ tokenIn: form.token('The token that is given'), tokenOut: form.token('The token that is wanted') },
      ...{ amountIn: form.raw('How much is given'), slippageBps: form.slippageBps },
    },
    'swap',
    'getSwap',
  ),
  {
    name: 'verify_plan',
    description:
      'Compares a plan with what was asked for, by the facts of the file that this server was started with. Says in sentences what would be signed.',
    input: {
      request: {
        type: 'object',
        description: 'The request of the plan, with its type: deposit, withdraw, claimDeposit, cancelDeposit or swap',
      },
      transactions: {
        type: 'array',
        maxItems: 8,
        items: { type: 'object' },
        description: 'The transactions of the plan',
      },
      actionId: form.optional(form.id('Id of the plan')),
    },
    run: async ({ client }, given: Parameters<typeof verifyGivenPlan>[1]) => ({
      verdict: await verifyGivenPlan(client, given),
    }),
  },
]
