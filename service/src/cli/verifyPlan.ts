import { readFile } from 'node:fs/promises'
import { type PlanContext, verifyBatch, verifyPlan } from '@openearn/sdk/verify'
import T from 'typebox'
import Value from 'typebox/value'
import { answer, type Command, UsageError } from './terminal.js'

const usage = `openearn verify-plan FILE

Decides without any network whether a plan does exactly what was asked. FILE is JSON:
{ "request":      { "type": "deposit" | "withdraw" | "claimDeposit" | "cancelDeposit", and the body that was sent }
                    or { "type": "swap", and the query of GetSwap },
  "transactions": the transactions of the answer, or the whole answer as "plan": then its batch is checked as well,
  "context":      { "chainId", "vault": { "address", "kind", "asset" }, "signers": [address or published signer],
                    and if known "actionId", "allowance", "approvalReset", "wrappedNative", "requestAmount",
                    "vault.contracts" (of a kind that has some), "minimumOut" (ERC-5115, "protect"),
                    "depositRouter" (of a deposit with "protect"),
                    "distributorId" (of the pending deposit, where the request names none),
                    "gasCap" (30000000 where absent), "names" ({ address: name } for the sentences),
                    and of what swaps "swap": { "routers": [{ "address", "kind": "uniswap-v2" | "uniswap-v3" | "swap-router-02" | "deposit-router" }],
                    and if known "wrappers" ([{ "address", "asset", "kind" }]), "hubTokens", "fees", "minimumOut", "amountIn", "amountInMax" (of a withdrawal), "deadline", "deadlineMax" (unix seconds),
                    "allowance", "approvalReset" }; a swap alone needs no "vault" } }
The vault and its kind are in the opportunity, and the kind is told by \`openearn catalogue probe\`; the signers are published
by GetIndexingStatus. sdk/examples/deposit.json is such a file. Says in a sentence what each transaction does when the plan is
what was asked; exits with 1 when it is refused.`

const Text = T.String()
const Transactions = T.Array(
  T.Object({
    type: Text,
    transaction: T.Object({ to: Text, data: Text, value: Text, chainId: T.Integer() }),
  }),
)
const Batch = T.Object({
  version: Text,
  chainId: Text,
  from: Text,
  atomicRequired: T.Boolean(),
  calls: T.Array(T.Object({ to: Text, data: Text, value: Text })),
})
const Units = T.String({ pattern: '^[0-9]{1,78}$' })
const common = { userAddress: Text }
const Request = T.Union([
  T.Object({
    type: T.Literal('swap'),
    ...{ user: Text, tokenIn: Text, tokenOut: Text, amountIn: Units, distributorId: Text },
  }),
  T.Object({
    ...common,
    type: T.Literal('deposit'),
    tokenIn: Text,
    amount: Units,
    distributorId: Text,
    referralCode: T.Optional(Text),
    mode: T.Optional(Text),
    protect: T.Optional(T.Boolean()),
  }),
  T.Object({
    ...common,
    type: T.Literal('withdraw'),
    amount: Units,
    distributorId: Text,
    tokenOut: T.Optional(Text),
  }),
  T.Object({
    ...common,
    type: T.Union([T.Literal('claimDeposit'), T.Literal('cancelDeposit')]),
    distributorId: T.Optional(Text),
    requestId: T.Optional(Units),
  }),
])
const Swap = T.Object({
  routers: T.Array(T.Object({ address: Text, kind: Text })),
  wrappers: T.Optional(T.Array(T.Object({ address: Text, asset: Text, kind: T.Optional(Text) }))),
  hubTokens: T.Optional(T.Array(Text)),
  fees: T.Optional(T.Array(T.Integer())),
  ...{
    minimumOut: T.Optional(Units),
    amountIn: T.Optional(Units),
    amountInMax: T.Optional(Units),
    deadline: T.Optional(Units),
    deadlineMax: T.Optional(Units),
  },
  ...{ allowance: T.Optional(Units), approvalReset: T.Optional(T.Boolean()) },
})
const Vault = T.Object({
  ...{ address: Text, kind: Text, asset: Text, receiptToken: T.Optional(Text) },
  contracts: T.Optional(T.Record(Text, Text)),
})
const Context = T.Object({
  chainId: T.Integer(),
  // Of what is no swap alone the verifier itself asks for it.
  vault: T.Optional(Vault),
  swap: T.Optional(Swap),
  signers: T.Array(T.Union([Text, T.Object({ address: Text, to: T.Optional(T.Union([Text, T.Null()])) })])),
  actionId: T.Optional(Text),
  allowance: T.Optional(Units),
  approvalReset: T.Optional(T.Boolean()),
  wrappedNative: T.Optional(Text),
  depositRouter: T.Optional(Text),
  requestAmount: T.Optional(Units),
  minimumOut: T.Optional(Units),
  gasCap: T.Optional(Units),
  names: T.Optional(T.Record(Text, Text)),
  distributorId: T.Optional(T.Union([Text, T.Null()])),
})
const File = T.Object({
  request: Request,
  transactions: T.Optional(Transactions),
  plan: T.Optional(T.Object({ transactions: Transactions, batch: T.Optional(Batch) })),
  context: Context,
})

export const verifyPlanCommand: Command = {
  usage,
  run: async ([path]) => {
    if (path === undefined) throw new UsageError(`verify-plan: give a file\n${usage}`)
    const file = parseFile(await readText(path))
    const transactions = file.transactions ?? file.plan?.transactions
    if (!transactions) throw new UsageError('verify-plan: the file has neither transactions nor a plan')
    const verdict = await verifyPlan(file.request, transactions, file.context as PlanContext)
    const batch = file.plan?.batch
    const batchProblems = batch ? verifyBatch(batch, transactions, walletOf(file.request)).problems : []
    const problems = [...verdict.problems, ...batchProblems]
    const ok = problems.length === 0
    const sentences = ok ? verdict.sentences : []
    const done = ['ok: the plan does exactly what was asked', ...sentences.map((each, at) => `${at + 1}: ${each}`)]
    answer({ ok, problems, sentences }, ok ? done : problems.map((problem) => `no: ${problem}`))
    if (!ok) process.exitCode = 1
  },
}

const walletOf = (request: T.Static<typeof Request>) => (request.type === 'swap' ? request.user : request.userAddress)

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw new UsageError(`verify-plan: ${path} cannot be read`, { cause: error })
  }
}

function parseFile(text: string): T.Static<typeof File> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new UsageError('verify-plan: the file is not valid JSON', { cause: error })
  }
  if (Value.Check(File, value)) return value
  const [first] = Value.Errors(File, value)
  throw new UsageError(`verify-plan: ${first?.instancePath || 'the file'} ${first?.message ?? 'has another form'}`)
}
