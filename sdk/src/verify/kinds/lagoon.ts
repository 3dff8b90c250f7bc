import { encodeFunctionData, parseAbi } from 'viem'
import type { ExpectedCalls } from '../kindCalls.js'
import { requested } from './erc7540.js'

const abi = parseAbi(['function cancelRequestDeposit()'])

export const lagoon: ExpectedCalls = { ...requested, isCancel: (call) => call === encodeFunctionData({ abi }) }
