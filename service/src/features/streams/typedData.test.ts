import { readFileSync } from 'node:fs'
import { bytesToHex, type Hex } from 'viem'
import { describe, expect, it } from 'vitest'
import { encodeSignable, formatTxParams, hashSignable, type Signable } from './typedData.js'

type Fields = Record<string, string>
type Vector = {
  primaryType: 'CreateStream' | 'AddFunds' | 'WithdrawFunds'
  message: { creator?: string; admin?: string; params: Fields; salt?: Hex; deadline: number }
  digest: Hex
  signature: Hex
  signatureBase64: string
  calldata: Hex
}
const { domain, vectors } = JSON.parse(
  readFileSync(new URL('../../../test/vectors/eip712.json', import.meta.url), 'utf8'),
) as { domain: { chainId: number; verifyingContract: string }; vectors: Vector[] }

function toSignable({ primaryType, message }: Vector): Signable {
  const { params: p, salt = '0x', deadline } = message
  const at = { chainId: domain.chainId, factory: domain.verifyingContract, deadline }
  const admin = (message.creator ?? message.admin) as string
  if (primaryType === 'CreateStream')
    return {
      ...{
        ...at,
        admin,
        call: 'createStream',
        streamId: p['streamId'] as Hex,
        rewardToken: p['rewardToken'] as string,
      },
      ...{ netAmount: BigInt(p['netTotalAmount'] as string), feeAmount: BigInt(p['feeAmount'] as string) },
    }
  const stream = p['stream'] as string
  return primaryType === 'AddFunds'
    ? {
        ...{ ...at, admin, call: 'addFunds', stream, salt },
        ...{ netAmount: BigInt(p['netAmount'] as string), feeAmount: BigInt(p['feeAmount'] as string) },
      }
    : {
        ...at,
        admin,
        call: 'withdrawFunds',
        stream,
        salt,
        to: p['to'] as string,
        amount: BigInt(p['amount'] as string),
      }
}

describe('what a verifier signs', () => {
  it.each(vectors.map((vector) => [vector.primaryType, vector] as const))(
    'hashes as the contract hashes it, and becomes the call the contract takes: %s',
    (_name, vector) => {
      const signable = toSignable(vector)
      expect(bytesToHex(hashSignable(signable))).toBe(vector.digest)
      expect(encodeSignable(signable, vector.signature)).toBe(vector.calldata)
      const { params, data } = formatTxParams(signable, vector.signature)
      expect(params).toMatchObject({ signature: vector.signatureBase64, deadline: String(vector.message.deadline) })
      expect(data).toBe(vector.calldata)
    },
  )
})
