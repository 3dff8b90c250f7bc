import { expect, test } from 'vitest'
import { testTokenAbi, testTokenBytecode, yieldVaultAbi, yieldVaultBytecode } from '../abi/index.js'
import { startAnvil } from './anvil.js'

test('a deposit whose gas was estimated in one second succeeds when it is mined in a later one', async () => {
  const chain = await startAnvil({ timestamp: 1_700_000_000 })
  try {
    const { client, deploy, done, mined, pass } = chain
    const me = client.account.address
    const token = await deploy({ abi: testTokenAbi, bytecode: testTokenBytecode, args: ['Dollar', 'USD', 6] })
    const rate = 10n ** 17n
    const vaultArgs = [token, 'Yield', 'yUSD', 6, rate, true]
    const vault = await deploy({ abi: yieldVaultAbi, bytecode: yieldVaultBytecode, args: vaultArgs })
    const tokenCall = { address: token, abi: testTokenAbi } as const
    await done(client.writeContract({ ...tokenCall, functionName: 'setMinter', args: [vault, true] }))
    await done(client.writeContract({ ...tokenCall, functionName: 'mint', args: [me, 10n ** 12n] }))
    await done(client.writeContract({ ...tokenCall, functionName: 'approve', args: [vault, 10n ** 12n] }))
    const deposit = { address: vault, abi: yieldVaultAbi, functionName: 'deposit', args: [10n ** 9n, me] } as const
    await done(client.writeContract(deposit))
    await client.setAutomine(false)
    const waiting = await client.writeContract(deposit)
    await pass(3_600)
    expect((await mined(waiting)).status).toBe('success')
  } finally {
    await chain.stop()
  }
})
