import T from 'typebox'
import { OpenEnum } from '../../kernel/wire.js'
import { ecosystems } from './wallet.js'

export const WalletAddress = T.String({
  description: 'The wallet: 0x and 40 hex digits (evm), base58 (solana), raw or friendly form (ton)',
})
export const Ecosystem = OpenEnum(ecosystems)
