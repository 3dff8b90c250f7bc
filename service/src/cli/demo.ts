import {
  createPublicClient,
  createWalletClient,
  erc20Abi,
  formatUnits,
  type Hex,
  http,
  parseEther,
  parseUnits,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'
import { systemClock } from '../kernel/clock.js'
import { playOrders } from './demoOrders.js'
import { playStream } from './demoStreams.js'
import { type Caller, createCaller, type Dev, type Json, readDev } from './dev/caller.js'
import { waitForReceipt } from './dev/receipt.js'
import { answer, type Command, parseFlags, print, UsageError } from './terminal.js'

type Prepared = {
  type: string
  description: string
  transaction: { to: Hex; data: Hex; value: string; gasLimit: string }
}
export const demo: Command = {
  usage: 'openearn demo [streams | orders]    (needs `npm start` running)',
  run: async (words) => {
    const { positionals } = parseFlags(words, {}, 1)
    const [what = 'deposit'] = positionals
    const playOne = demos.get(what)
    if (!playOne) throw new UsageError(`demo: there is no demo of ${what}; say streams, orders, or nothing`)
    await playOne(await readDev())
  },
}

const demos = new Map([
  ['deposit', play],
  ['streams', playStream],
  ['orders', playOrders],
])

async function play(dev: Dev): Promise<void> {
  const call = createCaller(dev, dev.keys.publishable)
  const transport = http(dev.rpcUrl)
  const chain = createPublicClient({ chain: foundry, transport, cacheTime: 0, pollingInterval: 50 })
  const distributorId = dev.distributorIds[0]
  const listed = dev.opportunities.find(({ kind }) => kind === 'erc4626')
  const funder = dev.accounts[0]
  if (!distributorId || !listed || !funder) throw new UsageError('dev.json names no distributor, vault or account')

  print(`1. Browse. ${dev.baseUrl}/v2/opportunities/`)
  const page = await call('GET', '/v2/opportunities/?sortBy=tvl')
  for (const { name, tvl, baseToken } of page.data)
    print(`   ${name.padEnd(20)} ${baseToken.symbol.padEnd(5)} TVL $${tvl}`)
  const opportunity = await call('GET', `/v2/opportunities/${listed.id}`)
  const token = opportunity.baseToken
  print(`   chosen: ${opportunity.name} at ${opportunity.vaultAddress}`)

  const wallet = privateKeyToAccount(generatePrivateKey())
  print(`2. A fresh wallet ${wallet.address}, funded with 1 ETH and 100 ${token.symbol} by a devnet account.`)
  const amount = parseUnits('100', token.decimals)
  const giver = createWalletClient({ chain: foundry, transport, account: privateKeyToAccount(funder.privateKey) })
  const mined = (hash: Hex) => waitForReceipt(chain, hash)
  await mined(await giver.sendTransaction({ to: wallet.address, value: parseEther('1') }))
  const transfer = { address: token.address, abi: erc20Abi, functionName: 'transfer' } as const
  await mined(await giver.writeContract({ ...transfer, args: [wallet.address, amount] }))

  print('3. Prove the wallet.')
  const address = wallet.address
  print(`   member before: ${(await call('GET', `/v2/membership/?address=${address}`)).isMember}`)
  const agreement = await call('POST', '/v2/membership/agreement', {
    address,
    walletEcosystem: 'evm',
    url: 'https://demo.openearn.example',
    chainId: String(foundry.id),
  })
  const signature = await wallet.signMessage({ message: agreement.message })
  const joined = await call('POST', '/v2/membership/', {
    address,
    walletEcosystem: 'evm',
    signature,
    nonce: agreement.nonce,
    distributorId,
  })
  print(`   member now: ${joined.isMember}`)

  const sender = createWalletClient({ chain: foundry, transport, account: wallet })
  const sendAll = async (transactions: Prepared[]): Promise<Hex> => {
    let last: Hex = '0x'
    for (const { type, description, transaction } of transactions) {
      const { to, data, value, gasLimit } = transaction
      last = await sender.sendTransaction({ to, data, value: BigInt(value), gas: BigInt(gasLimit) })
      await mined(last)
      print(`   ${type}: ${description}`)
      print(`   ${last}`)
    }
    return last
  }
  const waitForEntry = async (hash: Hex): Promise<Json> => {
    for (let tries = 0; tries < 150; tries++) {
      const activity = await call('GET', `/v2/interactions/?distributorId=${distributorId}&limit=100`)
      const entry = activity.data.find((one: Json) => one.txHash === hash)
      if (entry) return entry
      await systemClock.sleep(200)
    }
    throw new Error('the ledger did not show the transaction within 30 seconds')
  }
  const show = (entry: Json) =>
    print(
      `   ledger: ${entry.interaction} ${entry.amountToken} ${entry.tokenSymbol} ($${entry.amountInUsd}), ` +
        `distributor ${entry.distributorId}, ${entry.attribution}, ${entry.finality}`,
    )

  print('4. Deposit.')
  const body = { userAddress: address, tokenIn: token.address, amount: String(amount), distributorId }
  const deposit = await call('POST', `/v2/actions/deposit/${listed.id}`, body)
  const depositHash = await sendAll(deposit.transactions)
  show(await waitForEntry(depositHash))

  print('5. Withdraw everything.')
  const shares = await chain.readContract({
    address: opportunity.receiptToken.address,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [address],
  })
  const withdrawal = await call('POST', `/v2/actions/withdraw/${listed.id}`, {
    userAddress: address,
    amount: String(shares),
    distributorId,
  })
  const withdrawHash = await sendAll(withdrawal.transactions)
  show(await waitForEntry(withdrawHash))
  const back = await chain.readContract({
    address: token.address,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [address],
  })
  print(`   the wallet holds ${formatUnits(back, token.decimals)} ${token.symbol}`)

  print('6. Who brought it? The attribution debugger needs no key:')
  const attributions: Json[] = []
  for (const hash of [depositHash, withdrawHash])
    attributions.push(await showAttribution(call, { hash, distributorId, vault: opportunity.name }))
  print(`   curl '${dev.baseUrl}/v2/attribution/${depositHash}?chainId=${foundry.id}'`)
  answer({ wallet: wallet.address, depositHash, withdrawHash, distributorId, attributions }, [
    'Verified, signed and attributed: a deposit and a withdrawal.',
  ])
}

/** Asks the debugger about a transaction, and prints who brought it and who signed that. */
async function showAttribution(
  call: Caller,
  { hash, distributorId, vault }: { hash: Hex; distributorId: string; vault: string },
): Promise<Json> {
  const judged = await call('GET', `/v2/attribution/${hash}?chainId=${foundry.id}`, undefined, false)
  const { signature } = judged.calldata ?? {}
  if (!judged.attributed || judged.distributorId !== distributorId || judged.interactions.length !== 1)
    throw new Error(`the debugger does not confirm ${hash}`)
  if (signature?.valid !== true) throw new Error(`the debugger finds no valid signature in ${hash}`)
  const [{ interaction, amountToken, tokenSymbol }] = judged.interactions
  print(`   ${hash}`)
  print(`   the ${interaction} of ${amountToken} ${tokenSymbol}, ${vault}: brought by ${judged.distributorId}`)
  print(`   the calldata names it, and ${signature.signer} signed that`)
  return judged
}
