import { ponder } from 'ponder:registry'
import { deposit, transfer } from 'ponder:schema'

ponder.on('Vault:Transfer', async ({ event, context }) => {
  await context.db.insert(transfer).values({
    id: event.id,
    from: event.args.from,
    to: event.args.to,
    amount: event.args.value,
    blockNumber: event.block.number,
    blockHash: event.block.hash,
    timestamp: event.block.timestamp,
    transactionHash: event.transaction.hash,
  })
})

ponder.on('Vault:Deposit', async ({ event, context }) => {
  await context.db.insert(deposit).values({
    id: event.id,
    sender: event.args.sender,
    owner: event.args.owner,
    assets: event.args.assets,
    shares: event.args.shares,
    input: event.transaction.input,
    blockNumber: event.block.number,
    blockHash: event.block.hash,
    timestamp: event.block.timestamp,
    transactionHash: event.transaction.hash,
  })
})
