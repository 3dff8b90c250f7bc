import { createConfig } from 'ponder'
import { parseAbi } from 'viem'

const { RPC_URL = '', URLS = '100', LOGS_RANGE = '2000', VAULT = '0x', END_BLOCK = '0', DATABASE_URL } = process.env
// Ponder limits the calls to each url by itself; with a hundred names of one node the node is the limit.
const rpc = Array.from({ length: Number(URLS) }, (_, index) => `${RPC_URL}/?name=${index}`)

// biome-ignore lint/style/noDefaultExport: Ponder reads its configuration from it
export default createConfig({
  database: DATABASE_URL ? { kind: 'postgres', connectionString: DATABASE_URL } : { kind: 'pglite' },
  chains: { bench: { id: 31_337, rpc, ethGetLogsBlockRange: Number(LOGS_RANGE) } },
  contracts: {
    Vault: {
      chain: 'bench',
      abi: parseAbi([
        'event Transfer(address indexed from, address indexed to, uint256 value)',
        'event Deposit(address indexed sender, address indexed owner, uint256 assets, uint256 shares)',
      ]),
      address: VAULT as `0x${string}`,
      startBlock: 0,
      endBlock: Number(END_BLOCK),
    },
  },
})
