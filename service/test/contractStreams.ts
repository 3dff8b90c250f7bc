import type {
  As,
  PageNav,
  PageQuery,
  Stream,
  StreamAdminOperation,
  StreamPoint,
  StreamToken,
  StreamTxParams,
  WalletSnapshot,
  WalletStream,
} from './contractItems.js'

/** The operations of reward streams as the contract writes them. */
export type StreamOperations = {
  CreateStream: As<{
    body: {
      type: number
      startTimestamp: string
      endTimestamp?: string | null
      totalAmount?: string | null
      rewardTokenId?: string | null
      pointId?: string | null
      walletAddress?: string | null
      customArgs: {
        targetTokenId: string
        tokensPerUSD?: string | number | null
        apr?: string | number | null
        tokensPerDay?: string | number | null
      }
      adapters?: { type: string; params: Record<string, unknown> }[] | null
    }
    answer: { message: string; stream: Stream; txParams?: StreamTxParams; feeAmount: string }
  }>
  GetStreams: As<{
    query: { id?: string; orgId?: string; withSnapshots?: boolean; usersCount?: boolean }
    answer: { streams: Stream[] }
  }>
  PostStreamsBulk: As<{
    query: { page?: number; limit?: number; pageSize?: number; pageLimit?: number }
    body: {
      ids?: string[] | null
      organizationIds?: string[] | null
      targetChainIds?: number[] | null
      targetTokens?: { chainId: number; address: string }[] | null
      withSnapshots?: boolean | null
      usersCount?: boolean | null
    }
    answer: { streams: Stream[]; pagination?: PageNav }
  }>
  GetStreamTokens: As<{ query: { chainId?: number }; answer: { tokens: StreamToken[] } }>
  GetStreamPoints: As<{
    query: { id?: string; orgId?: string; symbol?: string; name?: string }
    answer: { points: StreamPoint[] }
  }>
  CreateStreamPoint: As<{
    body: { symbol: string; name: string; decimals?: number | null; logoUrl?: string | null }
    answer: { point: StreamPoint }
  }>
  GetStreamsForWallet: As<{
    path: { address: string }
    query: { withSnapshots?: boolean }
    answer: { streams: WalletStream[] }
  }>
  GetMerkleProofs: As<{
    query: { wallet: string; streamIds: string[] }
    answer: {
      proofs: {
        streamId: string
        chainId: number | null
        contractAddress: string
        amount: string | null
        proof: string[]
        rootHash: string
        timestamp: string | null
        error: string
      }[]
    }
  }>
  GetStreamWallets: As<{
    path: { id: string }
    query: PageQuery
    answer: { data: { userAddress: string; lastSnapshot: WalletSnapshot }[]; pagination: PageNav }
  }>
  GetStreamClaims: As<{
    path: { id: string }
    query: PageQuery
    answer: {
      data: { userAddress: string; amount: string; txHash: string; blockNumber: number; blockTimestamp: string }[]
      pagination: PageNav
    }
  }>
  GetStreamWallet: As<{ path: { id: string; address: string }; answer: { wallet: WalletStream } }>
  CreateStreamWithdrawal: As<{
    path: { id: string }
    body: { to?: string | null; amount?: string | null; signatureExpirationSeconds?: number | null }
    answer: StreamAdminOperation
  }>
  IncreaseStreamBudget: As<{
    path: { id: string }
    body: { amount: string; signatureExpirationSeconds?: number | null }
    answer: StreamAdminOperation
  }>
  GetActiveAdminOperation: As<{ path: { id: string }; answer: StreamAdminOperation }>
}
