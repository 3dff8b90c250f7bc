// Deposits from a script: the wallet is a private key, everything else is as in an app.
//
//   EARN_URL=http://127.0.0.1:4020 EARN_KEY=pk_live_… RPC_URL=http://127.0.0.1:8545 PRIVATE_KEY=0x… DISTRIBUTOR=… \
//     node deposit.mjs SYMBOL AMOUNT [TRUST_FILE]
import { readFileSync } from 'node:fs'
import { createEarnClient, listOpportunities } from '@openearn/sdk'
import { beginDeposit, beginJoin, run } from '@openearn/sdk/flows'
import { createPublicClient, http, parseUnits } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

const { EARN_URL, EARN_KEY, RPC_URL, PRIVATE_KEY, DISTRIBUTOR } = process.env
const [symbol, amount, trustFile] = process.argv.slice(2)
if (!EARN_URL || !RPC_URL || !PRIVATE_KEY || !DISTRIBUTOR || !symbol || !amount) {
  console.error('set EARN_URL, RPC_URL, PRIVATE_KEY and DISTRIBUTOR, and say a symbol and an amount')
  process.exit(2)
}

const account = privateKeyToAccount(PRIVATE_KEY)
const node = createPublicClient({ transport: http(RPC_URL) })

/** The wallet that the flow asks (EIP-1193): it signs by the key, and hands all else to the node. */
const provider = {
  async request({ method, params = [] }) {
    if (method === 'eth_accounts' || method === 'eth_requestAccounts') return [account.address]
    if (method === 'personal_sign') return account.signMessage({ message: { raw: params[0] } })
    if (method === 'eth_sendTransaction') {
      const { from: _, gas, nonce, chainId, value, maxFeePerGas, maxPriorityFeePerGas, ...call } = params[0]
      const fees = { maxFeePerGas: BigInt(maxFeePerGas), maxPriorityFeePerGas: BigInt(maxPriorityFeePerGas) }
      const place = { nonce: Number(nonce), chainId: Number(chainId), gas: BigInt(gas), value: BigInt(value) }
      const raw = await account.signTransaction({ ...call, ...place, ...fees, type: 'eip1559' })
      return node.request({ method: 'eth_sendRawTransaction', params: [raw] })
    }
    return node.request({ method, params })
  },
}

// With a file of `openearn trust export` a plan with another vault, router or signer is refused, whatever the service says.
const trust = trustFile === undefined ? undefined : JSON.parse(readFileSync(trustFile, 'utf8'))
const world = { earn: createEarnClient({ baseUrl: EARN_URL, apiKey: EARN_KEY, trust }), provider, url: EARN_URL }

/** Runs a flow to its end. A script says yes by itself, but not to a least amount that no own quote supports. */
async function finish(flow) {
  const end = await run(flow, world, undefined, { onState: ({ status }) => console.error(status) }).done
  for (const sentence of end.sentences ?? []) console.error(`  ${sentence}`)
  if (end.needs || end.problem)
    throw new Error(`${end.status}: ${end.problem?.text ?? `the flow waits for ${end.needs}`}`)
  return end
}

const { data } = await listOpportunities(world.earn, {
  depositTokenSymbols: [symbol],
  depositEnabled: true,
  sortBy: 'apr',
})
const vault = data.find(
  ({ baseToken, kind }) => baseToken.symbol.toLowerCase() === symbol.toLowerCase() && kind === 'erc4626',
)
if (!vault) throw new Error(`no vault takes ${symbol}`)

await finish(beginJoin({ wallet: account.address, chainId: vault.chainId, distributorId: DISTRIBUTOR }))
const { txHash, trusts } = await finish(
  beginDeposit({
    opportunityId: vault.id,
    userAddress: account.address,
    tokenIn: vault.baseToken.address,
    amount: parseUnits(amount, vault.baseToken.decimals),
    distributorId: DISTRIBUTOR,
  }),
)
console.log(JSON.stringify({ vault: vault.name, txHash, trusts }))
