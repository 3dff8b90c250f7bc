import { streamAbi } from '@openearn/contracts'
import {
  createPublicClient,
  createWalletClient,
  erc20Abi,
  erc4626Abi,
  formatUnits,
  type Hex,
  http,
  numberToHex,
  parseEther,
  parseUnits,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'
import { formatTs, systemClock, toUnixSeconds } from '../kernel/clock.js'
import { createCaller, type Dev, type Json } from './dev/caller.js'
import { waitForReceipt } from './dev/receipt.js'
import { answer, print, UsageError } from './terminal.js'

/** Seconds that the stream of the demo runs. */
const lastsSeconds = 6
/** Depth of final blocks. */
const finalBlocks = 70
const depositUsd = '10000'

/** Plays the life of a reward stream: signed, funded, earned in, committed, claimed, and its leftover withdrawn. */
export async function playStream(dev: Dev): Promise<void> {
  const call = createCaller(dev, dev.keys.secret)
  const transport = http(dev.rpcUrl)
  const chain = createPublicClient({ chain: foundry, transport, cacheTime: 0, pollingInterval: 50 })
  const opportunity = dev.opportunities.find(({ kind }) => kind === 'erc4626')
  const [giver, admin] = dev.accounts.map(({ privateKey }) => privateKeyToAccount(privateKey))
  if (!opportunity || !giver || !admin) throw new UsageError('dev.json names no vault or account')
  const openWallet = (account: typeof giver) => createWalletClient({ chain: foundry, transport, account })
  const mined = async (hash: Hex): Promise<void> => {
    if ((await waitForReceipt(chain, hash)).status !== 'success') throw new Error(`${hash} reverted`)
  }
  const balanceOf = (address: Hex, owner: Hex) =>
    chain.readContract({ address, abi: erc20Abi, functionName: 'balanceOf', args: [owner] })
  const waitFor = async <T>(what: string, look: () => Promise<T | undefined>): Promise<T> => {
    for (let tries = 0; tries < 300; tries++) {
      const found = await look()
      if (found !== undefined) return found
      await systemClock.sleep(200)
    }
    throw new Error(`${what} did not happen within a minute`)
  }

  const { tokens } = await call('GET', `/v2/streams/tokens?chainId=${foundry.id}`)
  const reward = tokens.find((token: Json) => token.isAllowedRewardToken)
  const target = tokens.find((token: Json) => token.address.toLowerCase() === opportunity.vaultAddress.toLowerCase())
  if (!reward || !target)
    throw new UsageError('this devnet has no reward streams: it was made by an earlier version; start it with --reset')
  const shown = (raw: bigint | string) => `${formatUnits(BigInt(raw), reward.decimals)} ${reward.symbol}`

  const user = privateKeyToAccount(generatePrivateKey())
  print(`1. A fresh wallet ${user.address} deposits ${depositUsd} dollars into ${opportunity.name}.`)
  const wallet = openWallet(user)
  const asset = await chain.readContract({ address: target.address, abi: erc4626Abi, functionName: 'asset' })
  const decimals = await chain.readContract({ address: asset, abi: erc20Abi, functionName: 'decimals' })
  const amount = parseUnits(depositUsd, decimals)
  await mined(await openWallet(giver).sendTransaction({ to: user.address, value: parseEther('1') }))
  const give = { address: asset, abi: erc20Abi, functionName: 'transfer', args: [user.address, amount] } as const
  await mined(await openWallet(giver).writeContract(give))
  const allow = { address: asset, abi: erc20Abi, functionName: 'approve', args: [target.address, amount] } as const
  await mined(await wallet.writeContract(allow))
  const put = { address: target.address, abi: erc4626Abi, functionName: 'deposit' } as const
  await mined(await wallet.writeContract({ ...put, args: [amount, user.address] }))

  print(`2. Create a stream: 100 ${reward.symbol} per 1,000 dollars a day to holders of ${target.symbol}.`)
  const budget = parseUnits('10', reward.decimals)
  // The time of a devnet may be ahead of the clock: the deposit has to be before the start.
  const { timestamp } = await chain.getBlock()
  const start = Math.max(toUnixSeconds(systemClock.now()), Number(timestamp))
  const instant = (seconds: number) => formatTs(new Date(seconds * 1_000))
  const created = await call('POST', '/v2/streams/', {
    ...{ type: 1, startTimestamp: instant(start), endTimestamp: instant(start + lastsSeconds) },
    ...{ totalAmount: String(budget), rewardTokenId: reward.id, walletAddress: admin.address },
    customArgs: { targetTokenId: target.id, tokensPerUSD: String(parseUnits('100', reward.decimals)) },
  })
  const { id, contractAddress } = created.stream
  const { txParams, feeAmount } = created
  print(`   ${id}: ${shown(budget)}, and a fee of ${shown(feeAmount)}`)
  const cost = budget + BigInt(feeAmount)
  const treasury = openWallet(admin)
  const approve = {
    address: reward.address,
    abi: erc20Abi,
    functionName: 'approve',
    args: [txParams.to, cost],
  } as const
  await mined(await treasury.writeContract(approve))
  await mined(await treasury.sendTransaction({ to: txParams.to, data: txParams.data }))
  await waitFor('the confirmation', async () => {
    const { streams } = await call('GET', `/v2/streams/?id=${id}`)
    return streams[0]?.creationConfirmedAt ?? undefined
  })
  print(`   funded and confirmed; its contract is ${contractAddress}`)

  print(`3. It accrues until ${instant(start + lastsSeconds)}; the snapshot of the end waits for a final block.`)
  await systemClock.sleep(Math.max(0, (start + lastsSeconds + 1) * 1_000 - systemClock.now().getTime()))
  // Blocks of a devnet cost nothing: mining on makes blocks final.
  const mine = (params: readonly unknown[]) => chain.request({ method: 'anvil_mine', params } as never)
  await mine(['0x1'])
  await mine([numberToHex(finalBlocks), '0x0'])
  const proof = await waitFor('the commit of the root', async () => {
    // The final block is read when the head moves, and not at every head.
    await mine(['0x1'])
    const { proofs } = await call('GET', `/v2/streams/merkle_proofs?wallet=${user.address}&streamIds=${id}`)
    return proofs[0]?.error === '' ? proofs[0] : undefined
  })
  print(`   committed: root ${proof.rootHash}`)

  print(`4. Claim ${shown(proof.amount)}.`)
  const at = Math.floor(Date.parse(proof.timestamp) / 1_000)
  const claim = { address: contractAddress, abi: streamAbi, functionName: 'claim' } as const
  await mined(await wallet.writeContract({ ...claim, args: [BigInt(proof.amount), at, proof.proof] }))
  const held = await balanceOf(reward.address, user.address)
  if (held !== BigInt(proof.amount)) throw new Error(`the wallet holds ${held}, not ${proof.amount}`)

  print('5. Withdraw what is left over.')
  const operation = await call('POST', `/v2/streams/${id}/withdrawals`, {})
  await mined(await treasury.sendTransaction({ to: operation.txParams.to, data: operation.txParams.data }))
  const owed = await balanceOf(reward.address, contractAddress)
  const { streams } = await call('GET', `/v2/streams/?id=${id}`)
  const allocated = BigInt(streams[0].committedSnapshot.amountDistributed)
  if (owed !== allocated - held) throw new Error(`the contract holds ${owed} and owes ${allocated - held}`)
  answer(
    { streamId: id, root: proof.rootHash, claimed: proof.amount, withdrawn: operation.amount, owed: String(owed) },
    [
      `   ${shown(operation.amount)} are back; ${shown(owed)} stay for the other holders of ${target.symbol}.`,
      `Created, accrued, committed, claimed and emptied. \`openearn streams recompute ${id}\` counts its root again.`,
    ],
  )
}
