import { type ErrorBody, errorTable, type Reason } from '../../kernel/errors.js'

/** Things of the devnet, so that what the document shows can be sent to it as it stands. */
const wallet = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
/** A wallet that is no member. */
const stranger = '0x8626f6940E2eb28930eFb4CeF49B2d1F2C9C1199'
const usdc = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
const vault = '0x7969c5eD335650692Bc04293B07F5BF2e7A673C0'
const opportunity = '7d08b82b-05f8-579b-a785-00a775566365'
const waitingOpportunity = '837147c6-fd2e-5e3d-93f0-0f0636de4d34'
/** A token that streams may pay, and a vault's share that they may reward, of the devnet. */
const rewardToken = 'b75283ba-d3d2-5dd5-8f16-ce52b5b2c0b6'
const shareToken = '07bd5d68-1ee0-5f10-9007-cc80c97b4ba2'
const transaction = '0x2f1b5d0c6d4e3f2a1b0c9d8e7f6a5b4c3d2e1f0a9b8c7d6e5f4a3b2c1d0e9f8a'
const asset = 'https://assets.example/usdc.svg'

/** Examples for members known by name, where one made from the schema alone would tell a reader nothing. */
export const byName: Record<string, unknown> = {
  action: 'deposit',
  actionId: '6f1c2a9e-3b7d-4c58-9a0e-2d4b6f8c1e35',
  address: wallet,
  addresses: wallet,
  after: '1042-6f1c2a9e3b7d',
  amount: '1000000',
  amountUsd: '1',
  app: 'AuroraWallet',
  blockHash: transaction,
  chainId: 31337,
  chainIds: '31337',
  code: 'stable',
  codes: 'AuroraWallet',
  color: '#2f6fed',
  cursor: '1042-6f1c2a9e3b7d',
  curatorId: '117fbf7f-1755-5202-9bea-f02ff57091cb',
  decimals: 6,
  contractAddress: vault,
  deadline: '1769860800',
  depositDisabledReason: '',
  detail: 'The settlement would cost more than the fill is worth to the owner.',
  depositToken: `${usdc}-31337`,
  depositTokenSymbols: 'USDC',
  description: 'Earns 5 % a year on USDC, block by block.',
  distributorId: 'AuroraWallet',
  earnedFrom: '2026-10-01T00:00:00Z',
  earnedTo: '2026-11-01T00:00:00Z',
  endDate: '2026-11-08T00:00:00Z',
  endTimestamp: '2026-03-31T12:00:00Z',
  error: '',
  estimatedApr: 8.5,
  explorerUrl: 'https://explorer.example',
  gasLimit: '180000',
  iconUrl: asset,
  id: opportunity,
  kind: 'erc4626',
  label: 'TVL',
  landingUrl: 'https://curator.example',
  lendingProtocolId: 'e8da4f5f-acab-5cc0-98df-64efa999527e',
  limit: 20,
  logoUrl: asset,
  message: 'app.example wants you to sign in with your Ethereum account:\n…',
  name: 'Steady USDC',
  next: '1042-6f1c2a9e3b7d',
  disabledReason: '',
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  types: 'interaction.confirmed',
  nonce: '9f86d081884c7d659a2feaa0c55ad015',
  opportunityId: opportunity,
  orderUid: `${transaction}${wallet.slice(2).toLowerCase()}697e2a40`,
  page: 1,
  partnerId: 'eec82f4b-725f-5d75-b4eb-684caf3a0cd3',
  problems: 'no signature',
  productId: '49d956f3-243a-5e66-b6b0-380447a5ff8c',
  protocol: 'openearn-devnet',
  provider: 'openearn',
  providerId: '6aa9d93b-6f4c-5ce8-96be-b3edf586144b',
  providerImg: asset,
  reason: 'the node does not answer',
  receiptToken: vault,
  referralCode: 'spring',
  requestId: '0',
  rewardTypeName: 'Base yield',
  rootHash: transaction,
  route: 'swap',
  schema: 'erc8021-2',
  search: 'usdc',
  services: 'AuroraWallet',
  signature: `0x${'4f'.repeat(64)}1c`,
  siteUrl: 'https://protocol.example',
  slippageBps: 50,
  slug: 'steady-usdc',
  startDate: '2026-11-01T00:00:00Z',
  startTimestamp: '2026-01-31T12:00:00Z',
  symbol: 'USDC',
  tag: 'erc8021:2:AuroraWallet',
  tags: 'stable',
  tokenIconUrl: asset,
  tokenIn: usdc,
  tokenInDecimals: 6,
  tokenOut: usdc,
  tokenSymbol: 'USDC',
  total: 1,
  totalPages: 1,
  tvl: 1250000,
  txHash: transaction,
  url: 'https://app.example/earn',
  userAddress: wallet,
  value: '0',
  vaultAddress: vault,
  version: '2.0.0',
  wallet: 'AuroraWallet',
  walletEcosystem: 'evm',
  withdrawalDisabledReason: '',
}

/** The same inside a schema of this title. */
export const byTitle: Record<string, Record<string, unknown>> = {
  Batch: {
    chainId: '0x7a69',
    calls: [{ to: vault, data: '0x6e553f65', value: '0x0' }],
  },
  Chain: { name: 'Devnet' },
  Earning: {
    ...{ productName: 'Stable yield', opportunityName: 'Steady USDC', deposited: { native: '100', usd: '100' } },
    ...{ withdrawn: { native: '40', usd: '40' }, current: { native: '61.5', usd: '61.5' } },
    earned: { native: '1.5', usd: '1.5' },
  },
  Token: { address: usdc, name: 'USD Coin' },
  TokenHolding: {
    ...{ address: usdc, name: 'USD Coin', amount: '1', priceUsd: '1', valueUsd: '1' },
    ...{ isNative: false, isProtocolToken: false },
  },
  ProtocolToken: {
    ...{ address: usdc, chain: '31337', name: 'USD Coin', amount: '1', price: '1', value_usd: '1', logo_url: asset },
  },
  ProtocolHoldings: {
    ...{ id: 'openearn-devnet', name: 'OpenEarn devnet', site_url: 'https://curator.example', logo_url: asset },
  },
  PortfolioPool: { id: vault, chain: '31337' },
  PortfolioProblem: { source: 'price', error: 'no price at this block: WBTC' },
  PreparedTransaction: { description: `Deposit 1 USDC into Steady USDC (${vault}) for ${wallet}` },
}

/** The same in the requests of one operation. */
export const byOperation: Record<string, Record<string, unknown>> = {
  CreateCancelDepositInteraction: { opportunityId: waitingOpportunity },
  CreateClaimDepositInteraction: { opportunityId: waitingOpportunity },
  CreateMembership: { address: stranger },
  CreateMembershipAgreement: { address: stranger, chainId: '31337' },
  BuildSwapOrder: { tokenIn: usdc, tokenOut: 'native', amountIn: '1000000' },
  GetSwap: { user: wallet, tokenIn: usdc, tokenOut: 'native', amountIn: '1000000' },
  CreateStream: {
    rewardTokenId: rewardToken,
    targetTokenId: shareToken,
    tokensPerUSD: '1000000',
    totalAmount: '1000000000',
    startTimestamp: '2030-01-31T12:00:00Z',
    endTimestamp: '2030-03-31T12:00:00Z',
  },
  GetEvents: { after: 'latest' },
  GetTokenByAddress: { address: usdc },
  ReplayWebhook: { after: 'latest' },
}

/** Members that stand for others in the requests of one operation, or in its response of 200: of two, one is shown. */
export const leftOut: Record<string, readonly string[]> = {
  CreateStream: ['pointId', 'apr', 'tokensPerDay', 'adapters'],
  BuildSwapOrder: ['opportunityId'],
  ReportSwapExecution: ['orderId'],
  ListInteractions: ['after'],
  'ListInteractions 200': ['next'],
}

/** Examples for the texts of the wire, by the pattern their schema has. */
export const byPattern: readonly [RegExp, string][] = [
  [/\{40\}/, wallet],
  [/\{64\}/, transaction],
  [/\{8\}-/, opportunity],
  [/\{4\}-\[0-9\]\{2\}/, '2026-01-31T12:00:00Z'],
  [/^\^0x\(/, '0x6e553f65'],
  [/\[1-9\]/, '1000000'],
  [/\\\.\[0-9\]/, '1250.5'],
  [/\[0-9\]/, '1000000'],
  [/A-Z/, 'AuroraWallet'],
]

function refusal(row: keyof typeof errorTable, error: string, retryable?: boolean, reason?: Reason): ErrorBody {
  const [code, status] = errorTable[row]
  const context = retryable === undefined ? {} : { retryable }
  return { code, status, error, context, ...(reason ? { reason } : {}) }
}

/** Responses of the examples that do not return 200: the object they name is gone, or never existed. */
export const refusals: Record<string, ErrorBody> = {
  ...Object.fromEntries(
    [
      'UpdateWebhook',
      'DeleteWebhook',
      'RotateWebhookSecret',
      'TestWebhook',
      'ReplayWebhook',
      'ListWebhookDeliveries',
    ].map((operationId) => [operationId, refusal('notFound', 'the organization has no such webhook')]),
  ),
  CreateCancelDepositInteraction: refusal(
    'invalidArgument',
    'this wallet has no pending deposit in this vault',
    false,
    'NOTHING_PENDING',
  ),
  CreateClaimDepositInteraction: refusal(
    'invalidArgument',
    'this wallet has no pending deposit in this vault',
    false,
    'NOTHING_PENDING',
  ),
  CreateMembership: refusal(
    'invalidArgument',
    'the nonce is unknown, used, expired or of another wallet; ask for a new agreement',
  ),
  GetAction: refusal('notFound', 'no such action', false),
  GetAttributionProof: refusal('notFound', 'the ledger has no entry of this transaction'),
  CreateStreamWithdrawal: refusal('notFound', 'no such stream'),
  GetActiveAdminOperation: refusal('notFound', 'no such stream'),
  GetSwapOrderStatus: refusal('notFound', 'no such order', false),
  GetStreamClaims: refusal('notFound', 'no such stream'),
  GetStreamWallet: refusal('notFound', 'no such stream'),
  GetStreamWallets: refusal('notFound', 'no such stream'),
  IncreaseStreamBudget: refusal('notFound', 'no such stream'),
  ReportSwapExecution: refusal('notFound', 'no such action', false),
  SubmitSwapOrder: refusal('notFound', 'no such order', false),
  VerifyTracking: refusal('notFound', 'this chain has no such mined transaction', true),
}
